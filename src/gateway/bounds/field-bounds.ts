import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Issue } from '../../lib/issue.ts'
import type { Operation } from '../operations/operations.ts'

/** The bounds of one field: of a number, of the numbers in an object, or of the length of a list. */
interface FieldBound {
  readonly path: readonly [field: string, ...within: readonly string[]]
  readonly of: 'number' | 'values' | 'items'
  readonly min: number
  readonly max: number
}

const number = (path: string, min: number, max = Infinity): FieldBound => bound(path, 'number', [min, max])

function bound(path: string, of: FieldBound['of'], [min, max]: readonly [number, number]): FieldBound {
  const [field = '', ...within] = path.split('.')
  return { path: [field, ...within], of, min, max }
}

const seedBound = 9_223_372_036_854_776_000

/** Specification section 8, for the formats that carry the same fields; text completions and responses have their own schemas. */
const chat: readonly FieldBound[] = [
  number('temperature', 0, 2),
  number('top_p', 0, 1),
  number('frequency_penalty', -2, 2),
  number('presence_penalty', -2, 2),
  number('n', 1, 128),
  number('max_tokens', 0),
  number('max_completion_tokens', 0),
  number('seed', -seedBound, seedBound),
  bound('logit_bias', 'values', [-100, 100]),
  bound('stop', 'items', [0, 4]),
]

const messages: readonly FieldBound[] = [number('temperature', 0, 2), number('top_p', 0, 1), number('max_tokens', 0)]

const ofGoogle = [
  'temperature 0 2',
  'topP 0 1',
  'frequencyPenalty -2 2',
  'presencePenalty -2 2',
  'candidateCount 1 128',
  'maxOutputTokens 0 Infinity',
  `seed ${-seedBound} ${seedBound}`,
]

const images: readonly FieldBound[] = [number('n', 1, 128)]

/** Google's API takes `generation_config.top_p` for `generationConfig.topP`. */
export const googleBounds: readonly FieldBound[] = ofGoogle.flatMap((line) => {
  const [name = '', min = '', max = ''] = line.split(' ')
  const names = [...new Set([name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])]
  return names.flatMap((one) =>
    ['generationConfig', 'generation_config'].map((config) => number(`${config}.${one}`, Number(min), Number(max))),
  )
})

export const fieldBounds: Readonly<Partial<Record<Operation, readonly FieldBound[]>>> = {
  chatComplete: chat,
  messages,
  imageGenerate: images,
  imageEdit: images,
  imageVary: images,
}

/** A fault of a field, with the value that it has. */
export interface BoundFault extends Issue {
  readonly value: unknown
}

/** Returns the faults of a body. A field of another type than its bound is the provider's to judge. */
export function boundFaults(body: Fields, bounds: readonly FieldBound[]): readonly BoundFault[] {
  let faults: BoundFault[] | null = null
  for (const one of bounds) {
    const value = valueOf(body, one.path)
    if (value === undefined || value === null) continue
    const found = faultsOf(value, one)
    if (found.length > 0) faults = [...(faults ?? []), ...found]
  }
  return faults ?? none
}

const none: readonly BoundFault[] = []

function valueOf(body: Fields, [field, within]: FieldBound['path']): unknown {
  const outer = body[field]
  return within === undefined || outer === undefined ? outer : isFields(outer) ? outer[within] : undefined
}

function faultsOf(value: unknown, { path, of, min, max }: FieldBound): readonly BoundFault[] {
  const param = path.join('.')
  if (of === 'number') return outside(value, { min, max }) ? [fault(param, value, { min, max })] : none
  if (of === 'items')
    return Array.isArray(value) && value.length > max
      ? [{ param, code: 'too_big', message: `must have at most ${max} items`, value }]
      : none
  if (!isFields(value)) return none
  const wrong = Object.keys(value).find((name) => outside(value[name], { min, max }))
  return wrong === undefined ? none : [fault(`${param}.${wrong}`, value[wrong], { min, max })]
}

interface Range {
  readonly min: number
  readonly max: number
}

const outside = (value: unknown, { min, max }: Range): value is number => typeof value === 'number' && (value < min || value > max)

const fault = (param: string, value: unknown, { min, max }: Range): BoundFault =>
  Number(value) < min
    ? { param, code: 'too_small', message: `must be at least ${min}`, value }
    : { param, code: 'too_big', message: `must be at most ${max}`, value }
