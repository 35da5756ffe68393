import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { DrawnImages } from '../neutral/drawn.ts'
import { drawnItem, listOf } from './sold-tools.ts'

/** Returns the images among the items of a response; null: there are none. One that failed is free. */
export function drawnOf(items: readonly Fields[], usage: Fields | null): DrawnImages | null {
  const images = items
    .filter(({ type, status }) => type === drawnItem && status !== 'failed')
    .map((item) => ({ model: saidOf(item['model']), size: saidOf(item['size']), quality: saidOf(item['quality']) }))
  return images.length === 0 && (usage === null || !saysTokens(usage)) ? null : { usage, images }
}

const saysTokens = ({ input_tokens: input, output_tokens: output }: Fields): boolean => (Number(input) || 0) + (Number(output) || 0) > 0

/** The model that draws where a request names none: platform.openai.com/docs/guides/tools-image-generation. */
const usualModel = 'gpt-image-1'

/** The tool of a request that lets its provider draw images. */
export interface DrawingTool {
  readonly model: string
  readonly size: string | null
  readonly quality: string | null
}

/** Returns the tool by which a request lets its provider draw; null: it has none. */
export function drawingToolOf(tools: unknown): DrawingTool | null {
  const tool = listOf(tools).find((one) => isFields(one) && one['type'] === 'image_generation')
  return isFields(tool)
    ? { model: saidOf(tool['model']) ?? usualModel, size: saidOf(tool['size']), quality: saidOf(tool['quality']) }
    : null
}

/** Returns the model that drew: the one that the answer names, or else the request. */
export const drawingModel = ({ images }: DrawnImages, tools: unknown): string =>
  images.find(({ model }) => model !== null)?.model ?? drawingToolOf(tools)?.model ?? usualModel

/** Leaves out the settings that are left to the model. */
const saidOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' && value !== 'auto' ? value : null)
