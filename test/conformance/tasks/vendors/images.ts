import { EditMode, MaskReferenceImage, MaskReferenceMode, RawReferenceImage } from '@google/genai'
import { pixel } from '../../../support/dialects/strict-images.ts'
import { geminiAt, huggingfaceAt, invoke, type VendorProofs, vertexAt } from './clients.ts'

export const images: VendorProofs = {
  gemini: [
    {
      title: 'a picture of an aspect',
      async ask(origin) {
        const answer = await geminiAt(origin).models.generateContent({
          model: 'gemini-2.5-flash-image',
          contents: 'a sun',
          config: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } },
        })
        return [answer.data ?? 'none']
      },
      said: [pixel],
    },
  ],
  imagen: [
    {
      title: 'two pictures',
      async ask(origin) {
        const config = { numberOfImages: 2, aspectRatio: '16:9', outputMimeType: 'image/png' }
        const answer = await vertexAt(origin).models.generateImages({ model: 'imagen-4.0-generate-001', prompt: 'a sun', config })
        return (answer.generatedImages ?? []).map(({ image }) => image?.imageBytes ?? 'none')
      },
      said: [pixel, pixel],
    },
  ],
  'imagen-edit': [
    {
      title: 'a picture that is changed within a mask',
      async ask(origin) {
        const raw = new RawReferenceImage()
        raw.referenceId = 1
        raw.referenceImage = { imageBytes: pixel }
        const mask = new MaskReferenceImage()
        mask.referenceId = 2
        mask.referenceImage = { imageBytes: pixel }
        mask.config = { maskMode: MaskReferenceMode.MASK_MODE_USER_PROVIDED }
        const answer = await vertexAt(origin).models.editImage({
          model: 'imagen-3.0-capability-001',
          prompt: 'more sun',
          referenceImages: [raw, mask],
          config: { editMode: EditMode.EDIT_MODE_INPAINT_INSERTION, numberOfImages: 1, seed: 1 },
        })
        return (answer.generatedImages ?? []).map(({ image }) => image?.imageBytes ?? 'none')
      },
      said: [pixel],
    },
  ],
  canvas: [
    {
      title: 'two pictures',
      async ask(origin) {
        const body = {
          taskType: 'TEXT_IMAGE',
          textToImageParams: { text: 'a sun' },
          imageGenerationConfig: { numberOfImages: 2, width: 512, height: 512, quality: 'standard', seed: 1 },
        }
        return (await invoke<{ images: string[] }>(origin, 'amazon.nova-canvas-v1:0', body)).images
      },
      said: [pixel, pixel],
    },
  ],
  'bedrock-stability': [
    {
      title: 'a picture',
      async ask(origin) {
        const body = { prompt: 'a sun', aspect_ratio: '16:9', output_format: 'png', seed: 1 }
        return (await invoke<{ images: string[] }>(origin, 'us.stability.sd3-5-large-v1:0', body)).images
      },
      said: [pixel],
    },
  ],
  huggingface: [
    {
      title: 'a picture of a size',
      async ask(origin) {
        const drawn = await huggingfaceAt(origin, 'text-to-image').textToImage(
          {
            model: 'black-forest-labs/FLUX.1-dev',
            provider: 'hf-inference',
            inputs: 'a sun',
            parameters: { width: 512, height: 512, seed: 1 },
          },
          { outputType: 'blob' },
        )
        return [Buffer.from(await drawn.arrayBuffer()).toString('base64')]
      },
      said: [pixel],
    },
  ],
}
