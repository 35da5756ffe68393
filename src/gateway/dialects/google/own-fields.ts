import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { unsigned } from './contents-encode.ts'
import { modelFacts } from './model-facts.ts'
import { carrierMark, isCarrier } from './signature.ts'

const marked = Buffer.from(`"${carrierMark}`)

/** Returns true if a body may carry parts of an answer in another dialect that we gave its client. */
export const mayHoldCarriers = (body: Buffer): boolean => body.includes(marked)

/** Returns a request without the parts of other vendors' models that its client carries: Google accepts its own signatures alone. */
export function withoutCarriers(body: Fields, model: string, loss: Loss): Fields {
  const { contents } = body
  if (!Array.isArray(contents)) return body
  const given: readonly unknown[] = contents
  const current = given.findLastIndex((content) => isFields(content) && content['role'] !== 'model' && !partsOf(content).some(isResult))
  const wants = modelFacts(model).wantsSignatures
  const own = given.map((content, at) =>
    isFields(content) ? ownContent(content, { at: `contents[${at}]`, signs: wants && at > current, loss }) : content,
  )
  if (own.every((content, at) => content === given[at])) return body
  return { ...body, contents: own.filter((content, at) => content === given[at] || partsOf(content).length > 0) }
}

const partsOf = (content: unknown): readonly unknown[] => (isFields(content) && Array.isArray(content['parts']) ? content['parts'] : [])

const has = (part: unknown, camel: string, snake: string): boolean => isFields(part) && (camel in part || snake in part)
const isResult = (part: unknown): boolean => has(part, 'functionResponse', 'function_response')
const isCall = (part: unknown): boolean => has(part, 'functionCall', 'function_call')

interface Place {
  readonly at: string
  /** True if the first call must be signed. */
  readonly signs: boolean
  readonly loss: Loss
}

function ownContent(content: Fields, { at, signs, loss }: Place): Fields {
  const parts = partsOf(content)
  const first = parts.findIndex(isCall)
  const own = parts.flatMap((part, index) => {
    if (!isFields(part)) return [part]
    const { thoughtSignature: camel, thought_signature: snake, ...rest } = part
    if (!isCarrier(camel ?? snake)) return [part]
    if (signs && index === first) {
      loss.note(`${at} (the reasoning before the call)`)
      return [{ ...rest, thoughtSignature: unsigned }]
    }
    return rest['text'] === '' ? [] : [rest]
  })
  return own.length === parts.length && own.every((part, index) => part === parts[index]) ? content : { ...content, parts: own }
}
