import type { Operation } from '../front/operations.ts'

/** Operations whose answer depends on nothing but the request: what they answer may be given again. */
const pure: ReadonlySet<Operation | 'proxy'> = new Set<Operation | 'proxy'>([
  'chatComplete',
  'complete',
  'embed',
  'messages',
  'countTokens',
  'createModelResponse',
  'imageGenerate',
])

/** Fields of a body by which an answer depends on, or changes, what the provider stores. */
const stateful = ['previous_response_id', 'conversation', 'background']

/** Tells whether an answer to this request may be kept: a JSON body of an operation without effects. */
export function isCacheable(operation: Operation | 'proxy', json: unknown): boolean {
  if (!pure.has(operation) || typeof json !== 'object' || json === null || Array.isArray(json)) return false
  return stateful.every((name) => {
    const value: unknown = Reflect.get(json, name)
    return value === undefined || value === null || value === false
  })
}

/** Marks in the last bytes of a whole stream, one for each format: without one of them the stream broke off. */
const endMarks = ['data: [DONE]', 'data:[DONE]', 'event: message_stop', '"response.completed"', '"finishReason"']
const tailBytes = 4096
/** Marks of an error within a stream or a body that began as a success. */
const errorMarks = [/^\s*\{\s*"error"/, /^data: ?\{\s*"error"/m, /^event: ?error/m, /"type": ?"response\.(?:failed|incomplete)"/]

/** Tells whether the bytes are a whole, successful answer. `encoding`: the content encoding of the bytes; those of a packed stream cannot be judged. */
export function isWhole(body: Buffer, { stream, encoding }: { readonly stream: boolean; readonly encoding: string }): boolean {
  if (encoding !== '') return !stream
  const text = body.toString('latin1')
  if (errorMarks.some((mark) => mark.test(text))) return false
  const tailAt = text.length - tailBytes
  return !stream || endMarks.some((mark) => text.lastIndexOf(mark) >= Math.max(0, tailAt))
}
