import { isFields, type Fields } from '../../lib/json/fields.ts'
import type { Task } from '../operations/operations.ts'
import { sentFields } from '../dialects/sent-fields.ts'
import { promptsOf } from './estimate.ts'
import { positive } from './output-bound.ts'

/** The names of the number of images, in all formats. */
const imageNames = [
  'n',
  'num_images',
  'numberOfImages',
  'number_of_images',
  'sampleCount',
  'sample_count',
  'samples',
  'num_samples',
  'batch_size',
  'num_outputs',
] as const
const imageHolders = ['parameters', 'imageGenerationConfig', 'input', 'config', 'generationConfig'] as const

/** Returns the most images that a request asks for: those of each of its instances. */
export function imagesOf(json: Fields): number {
  let most = 1
  const note = (fields: Fields) => {
    for (const name of imageNames) most = Math.max(most, positive(fields[name]) ?? 1)
  }
  for (const fields of sentFields(json)) {
    note(fields)
    for (const holder of imageHolders) {
      const held = fields[holder]
      if (isFields(held)) note(held)
    }
  }
  return most * lengthOf(json['instances'])
}

/** The fields that hold the inputs of an embedding, in all formats. */
const inputFields = ['input', 'inputs', 'texts', 'requests', 'instances', 'content'] as const

/** Returns how many inputs a request has that a model reads one by one; a list of numbers is one. */
export function inputsOf(json: unknown, task: Task | 'unknown' | null): number {
  if (!isFields(json)) return 1
  if (task === 'rerank') return lengthOf(json['documents'])
  if (task !== 'embedding') return Math.max(promptsOf(json), lengthOf(json['instances']))
  return Math.max(...inputFields.map((name) => lengthOf(json[name])))
}

const lengthOf = (value: unknown): number => (Array.isArray(value) && typeof value[0] !== 'number' ? Math.max(1, value.length) : 1)
