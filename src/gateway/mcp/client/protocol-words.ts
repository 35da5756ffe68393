import { type Fields, isFields } from '../../../lib/json/fields.ts'

/** The names of members by the protocol, by JSON Schema in its questions, and the values that it lists: they carry no texts of clients or servers. */
const words: ReadonlySet<string> = new Set(
  `_meta action annotations argument arguments audience blob capabilities completion content contents context cursor data description
    destructiveHint enumNames hasMore icons idempotentHint includeContext inputRequests inputResponses intelligencePriority isError lastModified
    maxTokens message messages metadata method mimeType mode model modelPreferences name nextCursor openWorldHint params priority progress
    progressToken prompt readOnlyHint ref requestedSchema requestState resource resources result resultType role roots sizes speedPriority
    costPriority stopReason stopSequences structuredContent systemPrompt temperature text theme title toolChoice tools total ttlMs type uri url
    elicitationId values cacheScope error code hints size src
    additionalProperties anyOf const default enum format items maximum maxItems maxLength minimum minItems minLength oneOf pattern properties
    required
    assistant user audio image resource_link ref/prompt ref/resource tool_use tool_result accept decline cancel form
    string number integer boolean object array null email date date-time endTurn maxTokens stopSequence toolUse none thisServer allServers
    elicitation/create sampling/createMessage roots/list complete input_required public private`.split(/\s+/),
)

export const isProtocolWord = (name: string): boolean => words.has(name)

/** Members whose values are words of the protocol. */
const closed: ReadonlySet<string> = new Set([
  'action',
  'audience',
  'cacheScope',
  'format',
  'includeContext',
  'method',
  'mode',
  'resultType',
  'role',
  'stopReason',
  'type',
])

const dayMs = 24 * 60 * 60 * 1000

/** The media types that results often name. */
const mediaType =
  /^(?:text\/(?:plain|html|markdown|csv|css|javascript|xml)|application\/(?:json|xml|pdf|octet-stream|zip|javascript|yaml)|image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)|audio\/(?:wav|mpeg|mp4|ogg|flac|webm)|video\/(?:mp4|webm|mpeg|quicktime))(?:; ?charset=utf-8)?$/i

/** A member of an object of the protocol. */
interface Member {
  readonly name: string
  readonly value: unknown
  readonly holder: Fields
  /** Whether the holder is in a place where the protocol has media. */
  readonly mayBeMedia: boolean
}

/** Returns whether a value is one of the protocol's own, or media: it holds no text of a client or a server. */
export function isOfProtocol({ name, value, holder, mayBeMedia }: Member): boolean {
  if (name === 'ttlMs') return typeof value === 'number' && value >= 0 && value <= dayMs
  if (Array.isArray(value)) return name === 'audience' && value.every((item) => typeof item === 'string' && words.has(item))
  if (typeof value !== 'string') return false
  if (closed.has(name)) return words.has(value)
  if (name === 'mimeType') return mediaType.test(value)
  return mayBeMedia && isMediaMember(name, holder) && isMedia(value)
}

/** The data of an image or a sound, and the blob of a resource. */
const isMediaMember = (name: string, { type, uri, mimeType }: Fields): boolean =>
  (name === 'data' && (type === 'image' || type === 'audio') && typeof mimeType === 'string') ||
  (name === 'blob' && typeof uri === 'string')

/** The smallest image has more letters; a number, or a word, is shorter. */
const shortestMedia = 64
const looked = 1024
const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Returns whether a text is Base64 as media have it: without blanks, with letters of both kinds among the first of them. */
function isMedia(text: string): boolean {
  const first = text.slice(0, looked)
  return text.length >= shortestMedia && text.length % 4 === 0 && /[a-z]/.test(first) && /[A-Z]/.test(first) && base64.test(text)
}

/** Returns the notification of progress with its numbers alone. */
export function progressNumbers(params: Fields, progressToken: unknown): Fields {
  const { progress, total } = params
  return {
    progressToken,
    ...(typeof progress === 'number' && { progress }),
    ...(typeof total === 'number' && { total }),
  }
}

/** The capabilities of clients by the protocol, with their parts. */
const known: Readonly<Record<string, readonly string[]>> = {
  elicitation: ['form', 'url'],
  sampling: ['tools', 'context'],
  roots: [],
}

/** Returns the capabilities of a client that the protocol has. */
export function plainCapabilities(capabilities: Fields): Fields {
  const kept = Object.entries(known).flatMap(([name, parts]): [string, Fields][] => {
    const value = capabilities[name]
    if (!isFields(value)) return []
    const listed = parts.filter((part) => isFields(value[part])).map((part) => [part, {}] as const)
    return [[name, { ...Object.fromEntries(listed), ...(value['listChanged'] === true && { listChanged: true }) }]]
  })
  return Object.fromEntries(kept)
}
