import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { TaskBody, TypedBytes } from '../dialects/tasks/task.ts'
import { decompress } from '../wire/encoding.ts'
import { type HeaderList, headerValue } from '../wire/header-list.ts'

/** An answer that is whole. */
export interface WholeAnswer extends TypedBytes {
  readonly status: number
  readonly rawHeaders: HeaderList
  /** Undefined: it is no JSON. */
  readonly json: unknown
}

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299

/** Returns a body as bytes. */
export const typedBytes = (body: TaskBody): TypedBytes =>
  'json' in body ? { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(body.json)) } : body

/** Returns an answer of which all bytes are there. */
export function wholeAnswer(held: Buffer, head: Pick<WholeAnswer, 'status' | 'rawHeaders'>): WholeAnswer {
  const { rawHeaders } = head
  const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
  const bytes = encoding === 'identity' ? held : decompress(held, encoding)
  const contentType = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
  return { ...head, bytes, contentType, json: isMedia.test(contentType) ? undefined : jsonOrUndefined(bytes.toString('utf8')) }
}

const isMedia = /^(?:audio|image|video)\//

/** Returns true for the headers of a stream of events. */
export const isEvents = (headers: HeaderList): boolean => headers.some((value, at) => at % 2 === 1 && value.startsWith('text/event-stream'))
