import { BedrockRuntimeClient, CountTokensCommand, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime'
import Anthropic from '@anthropic-ai/sdk'
import { DeepgramClient } from '@deepgram/sdk'
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { EditMode, GoogleGenAI, MaskReferenceImage, MaskReferenceMode, RawReferenceImage } from '@google/genai'
import { InferenceClient } from '@huggingface/inference'
import { Mistral } from '@mistralai/mistralai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { CohereClientV2 } from 'cohere-ai'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import Together from 'together-ai'
import { VoyageAIClient } from 'voyageai'
import { oracleUser } from '../../support/dialects/oracle-credential.ts'
import { said as spoken, samples, sound } from '../../support/dialects/strict-audio.ts'
import { pixel } from '../../support/dialects/strict-images.ts'
import { oracleClient } from '../sides/oracle.ts'
import type { Lines } from '../talk.ts'

/** A call of a vendor's own client, which proves that its emulator takes what that sends and answers what that reads. */
export interface VendorProof {
  readonly title: string
  ask(origin: string): Promise<Lines>
  readonly said: Lines
}

const key = 'sk-upstream'
const texts = ['a text', 'another']
const vectors = ['6 0.5 -0.25', '7 0.5 -0.25']
const vectorLine = (values: ArrayLike<number> | undefined): string => Array.from(values ?? []).join(' ')

const openaiAt = (origin: string): OpenAI => new OpenAI({ baseURL: origin, apiKey: key, maxRetries: 0 })
const mistralAt = (origin: string): Mistral => new Mistral({ serverURL: `${origin}/mistral`, apiKey: key })
const cohereAt = (origin: string): CohereClientV2 => new CohereClientV2({ environment: `${origin}/cohere`, token: key, maxRetries: 0 })
const voyageAt = (origin: string): VoyageAIClient => new VoyageAIClient({ environment: `${origin}/voyage`, apiKey: key })
const geminiAt = (origin: string): GoogleGenAI => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${origin}/google` } })

/** The token of a workload, so that the client asks nobody for one. */
const authClient = { getRequestHeaders: async () => new Headers({ authorization: 'Bearer token' }) }
const vertexAt = (origin: string): GoogleGenAI =>
  new GoogleGenAI({
    vertexai: true,
    project: 'project',
    location: 'us-east5',
    googleAuthOptions: { authClient: authClient as never },
    httpOptions: { baseUrl: `${origin}/vertex` },
  })

const bedrockAt = (origin: string): BedrockRuntimeClient =>
  new BedrockRuntimeClient({
    endpoint: `${origin}/bedrock`,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: new NodeHttpHandler(),
  })

/** Its client leaves the bodies of each family of models to who asks: they are those of the family's documentation. */
async function invoke<T>(origin: string, modelId: string, body: object): Promise<T> {
  const answer = await bedrockAt(origin).send(
    new InvokeModelCommand({ modelId, contentType: 'application/json', accept: 'application/json', body: JSON.stringify(body) }),
  )
  return JSON.parse(Buffer.from(answer.body).toString('utf8')) as T
}

/** Its client has one host, below which each provider of inference is named, and asks another one who serves a model. */
const huggingfaceAt = (origin: string, task: string): InferenceClient =>
  new InferenceClient(key, {
    async fetch(input: string | URL | Request, init?: RequestInit) {
      const url = new URL(input instanceof Request ? input.url : input)
      if (url.host === 'router.huggingface.co') return fetch(`${origin}/hf${url.pathname}`, init)
      const providerId = url.pathname.slice('/api/models/'.length)
      return Response.json({ inferenceProviderMapping: { 'hf-inference': { status: 'live', providerId, task } } })
    },
  })

const order = ['1 0.9', '0 0.1']
const asked = { query: 'sun?', documents: ['rain', 'It shines.'] }
const onDemand = (modelId: string) => ({
  compartmentId: oracleUser.tenancy,
  servingMode: { servingType: 'ON_DEMAND' as const, modelId },
})

const embeddings: Readonly<Record<string, readonly VendorProof[]>> = {
  openai: [
    {
      title: 'vectors of a length',
      async ask(origin) {
        const { data } = await openaiAt(`${origin}/openai`).embeddings.create({ model: 'm', input: texts, dimensions: 3, user: 'u' })
        return data.map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors,
    },
  ],
  mistral: [
    {
      title: 'vectors of a length',
      async ask(origin) {
        const { data } = await mistralAt(origin).embeddings.create({
          model: 'codestral-embed',
          inputs: texts,
          outputDimension: 3,
          outputDtype: 'float',
        })
        return data.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0)).map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors,
    },
  ],
  voyage: [
    {
      title: 'vectors for a question',
      async ask(origin) {
        const { data = [] } = await voyageAt(origin).embed({
          model: 'voyage-3.5',
          input: texts,
          inputType: 'query',
          truncation: true,
          outputDimension: 256,
        })
        return data.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0)).map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors,
    },
  ],
  cohere: [
    {
      title: 'vectors for documents',
      async ask(origin) {
        const { embeddings: found } = await cohereAt(origin).embed({
          model: 'embed-v4.0',
          texts,
          inputType: 'search_document',
          embeddingTypes: ['float'],
          outputDimension: 256,
          truncate: 'END',
        })
        return (found.float ?? []).map(vectorLine)
      },
      said: vectors,
    },
  ],
  google: [
    {
      title: 'vectors for a question',
      async ask(origin) {
        const config = { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 256 }
        const found = await geminiAt(origin).models.embedContent({ model: 'gemini-embedding-001', contents: texts, config })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors,
    },
  ],
  predict: [
    {
      title: 'vectors for documents',
      async ask(origin) {
        const config = { taskType: 'RETRIEVAL_DOCUMENT', title: 'A title', outputDimensionality: 256, autoTruncate: true }
        const found = await vertexAt(origin).models.embedContent({ model: 'text-embedding-005', contents: texts, config })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors,
    },
  ],
  'predict-one': [
    {
      title: 'a vector',
      async ask(origin) {
        const found = await vertexAt(origin).models.embedContent({ model: 'gemini-embedding-001', contents: texts.slice(0, 1) })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors.slice(0, 1),
    },
  ],
  'embed-content': [
    {
      title: 'a vector of a length',
      async ask(origin) {
        const config = { outputDimensionality: 256 }
        const found = await vertexAt(origin).models.embedContent({ model: 'gemini-embedding-2-preview', contents: 'a text', config })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors.slice(0, 1),
    },
  ],
  titan: [
    {
      title: 'a vector',
      async ask(origin) {
        const body = { inputText: 'a text', dimensions: 256, normalize: true }
        return [vectorLine((await invoke<{ embedding: number[] }>(origin, 'amazon.titan-embed-text-v2:0', body)).embedding)]
      },
      said: vectors.slice(0, 1),
    },
  ],
  nova: [
    {
      title: 'a vector',
      async ask(origin) {
        const found = await invoke<{ embeddings: { embedding: number[] }[] }>(origin, 'amazon.nova-2-multimodal-embeddings-v1:0', {
          taskType: 'SINGLE_EMBEDDING',
          singleEmbeddingParams: {
            embeddingPurpose: 'GENERIC_INDEX',
            embeddingDimension: 256,
            text: { truncationMode: 'END', value: 'a text' },
          },
        })
        return found.embeddings.map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors.slice(0, 1),
    },
  ],
  'bedrock-cohere': [
    {
      title: 'vectors',
      async ask(origin) {
        const body = { texts, input_type: 'search_document', embedding_types: ['float'] }
        return (await invoke<{ embeddings: { float: number[][] } }>(origin, 'cohere.embed-v4:0', body)).embeddings.float.map(vectorLine)
      },
      said: vectors,
    },
  ],
  oracle: [
    {
      title: 'vectors for a question',
      async ask(origin) {
        const inputType = 'SEARCH_QUERY' as never
        const details = { ...onDemand('cohere.embed-v4.0'), inputs: texts, inputType, outputDimensions: 256 }
        const answer = await oracleClient(origin).embedText({ embedTextDetails: details })
        return (answer.embedTextResult.embeddings ?? []).map(vectorLine)
      },
      said: vectors,
    },
  ],
  ollama: [
    {
      title: 'vectors',
      async ask(origin) {
        const asking = { model: 'nomic-embed-text', input: texts, truncate: true, keep_alive: '5m', dimensions: 3 }
        return (await new Ollama({ host: `${origin}/ollama` }).embed(asking)).embeddings.map(vectorLine)
      },
      said: vectors,
    },
  ],
  huggingface: [
    {
      title: 'vectors',
      async ask(origin) {
        const found = await huggingfaceAt(origin, 'feature-extraction').featureExtraction({
          model: 'sentence-transformers/all-MiniLM-L6-v2',
          provider: 'hf-inference',
          inputs: texts,
          normalize: true,
        })
        return (found as number[][]).map(vectorLine)
      },
      said: vectors,
    },
  ],
}

const rerank: Readonly<Record<string, readonly VendorProof[]>> = {
  cohere: [
    {
      title: 'an order',
      async ask(origin) {
        const { results } = await cohereAt(origin).rerank({ model: 'rerank-v3.5', ...asked, topN: 2, maxTokensPerDoc: 100 })
        return results.map(({ index, relevanceScore }) => `${index} ${relevanceScore}`)
      },
      said: order,
    },
  ],
  voyage: [
    {
      title: 'an order',
      async ask(origin) {
        const { data = [] } = await voyageAt(origin).rerank({ model: 'rerank-2.5', ...asked, topK: 2, truncation: true })
        return data.map(({ index, relevanceScore }) => `${index} ${relevanceScore}`)
      },
      said: order,
    },
  ],
  together: [
    {
      title: 'an order',
      async ask(origin) {
        const client = new Together({ baseURL: `${origin}/together/v1`, apiKey: key, maxRetries: 0 })
        const { results } = await client.rerank.create({ model: 'Salesforce/Llama-Rank-V1', ...asked, top_n: 2, return_documents: false })
        return results.map(({ index, relevance_score: score }) => `${index} ${score}`)
      },
      said: order,
    },
  ],
  'bedrock-cohere': [
    {
      title: 'an order',
      async ask(origin) {
        const body = { ...asked, top_n: 2, api_version: 2 }
        const found = await invoke<{ results: { index: number; relevance_score: number }[] }>(origin, 'cohere.rerank-v3-5:0', body)
        return found.results.map(({ index, relevance_score: score }) => `${index} ${score}`)
      },
      said: order.toReversed(),
    },
  ],
  'bedrock-amazon': [
    {
      title: 'an order',
      async ask(origin) {
        const body = { ...asked, top_n: 2 }
        const found = await invoke<{ results: { index: number; relevance_score: number }[] }>(origin, 'amazon.rerank-v1:0', body)
        return found.results.map(({ index, relevance_score: score }) => `${index} ${score}`)
      },
      said: order.toReversed(),
    },
  ],
  oracle: [
    {
      title: 'an order',
      async ask(origin) {
        const details = { ...onDemand('cohere.rerank.v3-5'), input: asked.query, documents: asked.documents, topN: 2 }
        const answer = await oracleClient(origin).rerankText({ rerankTextDetails: details })
        return answer.rerankTextResult.documentRanks.map(({ index, relevanceScore }) => `${index} ${relevanceScore}`)
      },
      said: order,
    },
  ],
}

const images: Readonly<Record<string, readonly VendorProof[]>> = {
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

const bytesOf = async (stream: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

const elevenAt = (origin: string): ElevenLabsClient => new ElevenLabsClient({ baseUrl: `${origin}/eleven`, apiKey: key, maxRetries: 0 })
const deepgramAt = (origin: string): DeepgramClient =>
  new DeepgramClient({ apiKey: key, baseUrl: `${origin}/deepgram`, environment: { base: `${origin}/deepgram` } as never, maxRetries: 0 })

const audio: Readonly<Record<string, readonly VendorProof[]>> = {
  elevenlabs: [
    {
      title: 'speech at a speed',
      async ask(origin) {
        const answer = await elevenAt(origin).textToSpeech.convert('thalia', {
          text: 'a sun',
          modelId: 'eleven_multilingual_v2',
          outputFormat: 'mp3_44100_128',
          voiceSettings: { speed: 1.1 },
        })
        return [String(await bytesOf(answer))]
      },
      said: [String(sound)],
    },
    {
      title: 'a transcript',
      async ask(origin) {
        const answer = await elevenAt(origin).speechToText.convert({
          modelId: 'scribe_v1',
          file: new Blob([sound]),
          timestampsGranularity: 'word',
          tagAudioEvents: false,
          languageCode: 'en',
        })
        return ['text' in answer ? (answer.text ?? 'none') : 'none']
      },
      said: [spoken],
    },
  ],
  'deepgram-speech': [
    {
      title: 'speech',
      async ask(origin) {
        const answer = await deepgramAt(origin).speak.v1.audio.generate({ text: 'a sun', model: 'aura-2-thalia-en', encoding: 'mp3' })
        return [String(Buffer.from(await answer.arrayBuffer()))]
      },
      said: [String(sound)],
    },
  ],
  deepgram: [
    {
      title: 'a transcript',
      async ask(origin) {
        const answer = await deepgramAt(origin).listen.v1.media.transcribeFile(sound, {
          model: 'nova-3',
          smart_format: true,
          detect_language: true,
        })
        return ['results' in answer ? (answer.results.channels[0]?.alternatives?.[0]?.transcript ?? 'none') : 'none']
      },
      said: [spoken],
    },
  ],
  'gemini-speech': [
    {
      title: 'speech',
      async ask(origin) {
        const answer = await geminiAt(origin).models.generateContent({
          model: 'gemini-2.5-flash-preview-tts',
          contents: 'a sun',
          config: {
            responseModalities: ['AUDIO'],
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
          },
        })
        return [answer.data ?? 'none']
      },
      said: [samples.toString('base64')],
    },
  ],
  gemini: [
    {
      title: 'a transcript',
      async ask(origin) {
        const answer = await geminiAt(origin).models.generateContent({
          model: 'gemini-2.5-flash',
          contents: [
            {
              role: 'user',
              parts: [{ text: 'Write down what is said.' }, { inlineData: { mimeType: 'audio/mpeg', data: sound.toString('base64') } }],
            },
          ],
          config: { temperature: 0 },
        })
        return [(answer.text ?? 'none').trim()]
      },
      said: [spoken],
    },
  ],
  huggingface: [
    {
      title: 'a transcript',
      async ask(origin) {
        const { text } = await huggingfaceAt(origin, 'automatic-speech-recognition').automaticSpeechRecognition({
          model: 'openai/whisper-large-v3',
          provider: 'hf-inference',
          data: new Blob([sound]),
        })
        return [text.trim()]
      },
      said: [spoken],
    },
  ],
}

const moderations: Readonly<Record<string, readonly VendorProof[]>> = {
  mistral: [
    {
      title: 'a judgement',
      async ask(origin) {
        const { results } = await mistralAt(origin).classifiers.moderate({ model: 'mistral-moderation-latest', inputs: ['good', 'bad'] })
        return results.map(({ categories }) => String(categories?.['hate_and_discrimination']))
      },
      said: ['false', 'true'],
    },
  ],
}

const user = { role: 'user' as const, content: 'a sun' }
const contents = [{ role: 'user', parts: [{ text: 'a sun' }] }]

const counts: Readonly<Record<string, readonly VendorProof[]>> = {
  anthropic: [
    {
      title: 'a count',
      async ask(origin) {
        const client = new Anthropic({ baseURL: `${origin}/anthropic`, apiKey: key, maxRetries: 0 })
        const found = await client.messages.countTokens({ model: 'claude-sonnet-4-5', system: 'Be brief.', messages: [user] })
        return [String(found.input_tokens)]
      },
      said: ['7'],
    },
  ],
  google: [
    {
      title: 'a count',
      async ask(origin) {
        const found = await geminiAt(origin).models.countTokens({ model: 'gemini-2.5-flash', contents })
        return [String(found.totalTokens)]
      },
      said: ['7'],
    },
  ],
  'vertex-gemini': [
    {
      title: 'a count with instructions',
      async ask(origin) {
        const config = { systemInstruction: 'Be brief.' }
        const found = await vertexAt(origin).models.countTokens({ model: 'gemini-2.5-flash', contents, config })
        return [String(found.totalTokens)]
      },
      said: ['7'],
    },
  ],
  openai: [
    {
      title: 'a count',
      async ask(origin) {
        const found = await openaiAt(`${origin}/v1`).responses.inputTokens.count({
          model: 'gpt-5',
          instructions: 'Be brief.',
          input: 'a sun',
        })
        return [String(found.input_tokens)]
      },
      said: ['7'],
    },
  ],
  bedrock: [
    {
      title: 'a count',
      async ask(origin) {
        const input = { converse: { messages: [{ role: 'user' as const, content: [{ text: 'a sun' }] }], system: [{ text: 'Be brief.' }] } }
        const modelId = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
        return [String((await bedrockAt(origin).send(new CountTokensCommand({ modelId, input }))).inputTokens)]
      },
      said: ['7'],
    },
  ],
}

/** The proofs of each area, by the provider. */
export const vendorProofs: Readonly<Record<string, Readonly<Record<string, readonly VendorProof[]>>>> = {
  embeddings,
  rerank,
  images,
  audio,
  moderations,
  counts,
}

const passedOn = 'goes on as it is'
const noClient = 'has no client of its own for Node'
const ofClaude = "is asked by Anthropic's client, which proves it in conversations, and counts at a model of its own"

/** Why the emulator of a provider is not proven here. */
export const unproven: Readonly<Record<string, string>> = {
  'embeddings/jina': noClient,
  'embeddings/nomic': noClient,
  'embeddings/workers': noClient,
  'embeddings/workers-own': noClient,
  'rerank/jina': noClient,
  'rerank/azure': "is Cohere's",
  'rerank/vertex': 'has a client that speaks gRPC alone',
  'rerank/workers': noClient,
  'images/openai': passedOn,
  'images/bedrock-inpaint': "is another model of Stability's, in the same words",
  'images/stability': noClient,
  'images/stability-edit': noClient,
  'images/workers': noClient,
  'images/replicate': "is proven by Replicate's client in conversations",
  'audio/openai': passedOn,
  'audio/aura': noClient,
  'audio/whisper': noClient,
  'audio/whisper-turbo': noClient,
  'moderations/openai': passedOn,
  'counts/vertex-claude': ofClaude,
  'counts/others': 'is not asked',
}
