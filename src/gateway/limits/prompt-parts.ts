import { isFields, type Fields } from '../../lib/json/fields.ts'
import { sentFields } from '../dialects/sent-fields.ts'
import { listOf } from '../dialects/openai-responses/sold-tools.ts'

/** The parts of a prompt beside text. */
export interface PromptParts {
  readonly pictures: number
  /** The characters of sound in base64. */
  readonly audio: number
  /** True when it has sound, or a file that may be sound. */
  readonly hasSound: boolean
  /** True when it has a film, or a file that may be one. */
  readonly hasFilm: boolean
  /** The characters of pictures and sound, which are no text. */
  readonly characters: number
  /** True when it names a file or sound that is not in the body: it may fill the window. */
  readonly isOpen: boolean
  /** True when it refers to contents outside the body, pictures and earlier turns too. */
  readonly isPartial: boolean
  /** True when it holds a document, a film or sound whose bytes are packed: they may unpack to any number of tokens. */
  readonly isPacked: boolean
}

/** Each of several models that may answer asks for the parts of the same body. */
const known = new WeakMap<object, PromptParts>()

/** Looks through the values of a body, once. Its texts are not looked into, so that long ones cost no time. */
export function partsOf(json: unknown): PromptParts {
  if (!isFields(json)) return noParts
  const found = known.get(json)
  if (found !== undefined) return found
  const parts: MutableParts = { ...noParts }
  parts.isPartial = sentFields(json).some(isContinued)
  // Contents that are kept at the provider may be of any kind.
  parts.hasSound = parts.hasFilm = parts.isPartial
  for (const field in json) if (!otherFields.has(field)) look(json[field], parts, 0)
  for (const field of pictureFields) {
    const held = json[field] ?? null
    if (held !== null) addMedia('image', [field, held], parts)
  }
  known.set(json, parts)
  return parts
}

/** Returns true for a request that goes on from turns which are kept at the provider. */
const isContinued = ({ previous_response_id: before, conversation, input }: Fields): boolean =>
  (before ?? conversation ?? null) !== null || listOf(input).some(isReference)

const noParts: PromptParts = {
  pictures: 0,
  audio: 0,
  hasSound: false,
  hasFilm: false,
  characters: 0,
  isOpen: false,
  isPartial: false,
  isPacked: false,
}

type MutableParts = { -readonly [Name in keyof PromptParts]: PromptParts[Name] }

/** The pictures of requests for images: each has one, or a list. */
const pictureFields = ['image', 'images', 'mask', 'reference_images'] as const
/** Fields beside the prompt, in all formats: tools may have parameters, and schemas properties, of any name. */
const otherFields: ReadonlySet<string> = new Set([
  ...pictureFields,
  'tools',
  'functions',
  'tool_choice',
  'toolConfig',
  'response_format',
  'text',
  'output_format',
  'output_config',
  'outputConfig',
  'generationConfig',
  'generation_config',
  'additionalModelRequestFields',
  'metadata',
  'labels',
])

/** Arguments and results of tools have fields of any name; citations of an earlier answer are not read again. */
const foreignFields: ReadonlySet<string> = new Set([
  'input',
  'arguments',
  'functionCall',
  'function_call',
  'toolUse',
  'response',
  'json',
  'annotations',
  'citations',
  'results',
])

const idFields: ReadonlySet<string> = new Set(['file_id', 'fileId', 'file_uri', 'fileUri', 's3Location'])
const addressFields: ReadonlySet<string> = new Set(['file_url', 'document_url', 'video_url', 'audio_url'])

/** Parts of contents of results of messages of a body. */
const deepest = 10

function look(value: unknown, parts: MutableParts, depth: number): void {
  // Contents that are not looked at may name anything.
  if (depth > deepest) parts.isPartial ||= isHolder(value)
  else if (Array.isArray(value)) for (const one of value as readonly unknown[]) look(one, parts, depth + 1)
  else if (isFields(value)) lookInto(value, parts, depth)
}

function lookInto(fields: Fields, parts: MutableParts, depth: number): void {
  for (const name in fields) {
    const held = fields[name]
    if (typeof held !== 'string' && !isHolder(held)) continue
    if (foreignFields.has(name)) continue
    if (isPacked(name, held, fields)) addPacked(name, held, parts)
    const media = mediaOf(name, held, fields)
    if (media !== null) addMedia(media, [name, held], parts)
    else if (namesFile(name, held)) addFile(fields, parts)
    else look(held, parts, depth + 1)
  }
}

/** Items of a response that is kept at the provider, by the field in which their contents come where they are in the body. */
const keptItems: Readonly<Record<string, string | null>> = {
  item_reference: null,
  reasoning: 'encrypted_content',
  image_generation_call: 'result',
  web_search_call: null,
  file_search_call: 'results',
  code_interpreter_call: 'outputs',
}

/** Returns true for an item whose contents the provider itself adds: an id without them. */
function isReference(item: unknown): boolean {
  if (!isFields(item) || typeof item['id'] !== 'string') return false
  // The type of a reference may be left out.
  const { type = 'item_reference' } = item
  if (type === 'item_reference' && 'role' in item) return false
  const contents = typeof type === 'string' && Object.hasOwn(keptItems, type) ? keptItems[type] : undefined
  return contents !== undefined && (contents === null || (item[contents] ?? null) === null)
}

/** A file by its name alone may be sound or a film, unless its type is beside it. */
function addFile(fields: Fields, parts: MutableParts): void {
  parts.isOpen = parts.isPartial = true
  const type = mediaType(fields)
  if (typeof type !== 'string') parts.hasSound = parts.hasFilm = true
  else noteType(type, parts)
}

function noteType(type: string, parts: MutableParts): void {
  if (type.startsWith('video/')) parts.hasFilm = parts.hasSound = true
  if (type.startsWith('audio/')) parts.hasSound = true
}

function addPacked(name: string, held: unknown, parts: MutableParts): void {
  parts.isPacked = true
  const type = isFields(held) ? mediaType(held) : null
  if (typeof type === 'string') noteType(type, parts)
  else if (name.startsWith('video')) parts.hasFilm = parts.hasSound = true
}

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns true for a file by its id or address. One in the body may stand in the same fields. */
const namesFile = (name: string, held: unknown): boolean =>
  idFields.has(name) ||
  ((addressFields.has(name) || (name === 'source' && isFields(held) && held['type'] === 'url')) && isNamed(name, held))

/** Types and formats that hold a token in so many bytes at least: words, and sound that is not packed or has a least rate. */
const unpacked = /^(?:text\/|image\/|application\/json)|(?:^|[/.-])(?:wav|wave|x-wav|pcm16|pcm|l16|mp3|mpeg|txt|md|csv|html)(?:;|$)/i

const isUnpacked = (type: unknown): boolean => typeof type === 'string' && unpacked.test(type)

/** Bedrock names the format of a document or a film beside its source. */
const converseParts: ReadonlySet<string> = new Set(['document', 'video', 'audio'])

/** Fields that hold a film or a document as a text: its bytes, or its address. */
const packedTexts: ReadonlySet<string> = new Set(['video_url', 'video_base64', 'video', 'pdf'])

/** Returns true for a document, a film or sound in the body whose bytes do not bound its tokens. */
function isPacked(name: string, held: unknown, of: Fields): boolean {
  if (typeof held === 'string' && packedTexts.has(name)) return true
  if (typeof held === 'string' && (name === 'file_data' || addressFields.has(name))) return !isUnpacked(/^data:([^,]*)/.exec(held)?.[1])
  return name === 'video_url' || (isFields(held) && isPackedPart(name, held, of))
}

function isPackedPart(name: string, held: Fields, of: Fields): boolean {
  if (name === 'input_audio') return !isUnpacked(held['format'])
  if (converseParts.has(name)) return isFields(held['source']) && (name === 'video' || !isUnpacked(held['format']))
  return holdsData(name, held) && !isUnpacked(mediaType(held) ?? of['media_type'])
}

const mediaType = (held: Fields): unknown => held['mimeType'] ?? held['mime_type'] ?? held['media_type']

const holdsData = (name: string, held: Fields): boolean =>
  name === 'inlineData' || name === 'inline_data' || (name === 'source' && held['type'] === 'base64')

type Media = 'image' | 'audio'

function addMedia(media: Media, [name, held]: readonly [name: string, held: unknown], parts: MutableParts): void {
  for (const one of Array.isArray(held) ? (held as readonly unknown[]) : [held]) {
    const length = longestText(one)
    parts.characters += length
    if (media === 'audio') {
      parts.audio += length
      parts.hasSound = true
    } else parts.pictures += 1
    if (!isNamed(name, one)) continue
    parts.isPartial = true
    // A recording outside the body has an unknown length.
    if (media === 'audio') parts.isOpen = true
  }
}

/** The fields that may hold a picture or sound, by their kind. */
const mediaFields: Readonly<Record<string, (held: unknown, of: Fields) => Media | null>> = {
  image_url: () => 'image',
  // Inputs and documents of searches have a picture as a text: jina.ai/embeddings, docs.voyageai.com/docs/multimodal-embeddings.
  image: (held) => (typeof held === 'string' || (isFields(held) && 'source' in held) ? 'image' : null),
  image_base64: () => 'image',
  file_id: (_, { type }) => (type === 'input_image' ? 'image' : null),
  source: (_, { type }) => (type === 'image' ? 'image' : null),
  input_audio: () => 'audio',
  // Sound that the model made before.
  audio: (held) => (isFields(held) && typeof held['id'] === 'string' ? 'audio' : null),
  inlineData: kindIn,
  inline_data: kindIn,
  fileData: pictureIn,
  file_data: pictureIn,
}

/** Returns the kind of media in a field; null: no picture and no sound. */
const mediaOf = (name: string, held: unknown, of: Fields): Media | null =>
  Object.hasOwn(mediaFields, name) ? (mediaFields[name]?.(held, of) ?? null) : null

function kindIn(held: unknown): Media | null {
  const type = isFields(held) ? (held['mimeType'] ?? held['mime_type']) : null
  return typeof type !== 'string' ? null : type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'audio' : null
}

function pictureIn(held: unknown): Media | null {
  return kindIn(held) === 'image' ? 'image' : null
}

/** The fields of the source of a part. */
const deepestText = 3
/** Base64 and `data:` are in the body. */
const address = /^(?!data:)[a-z][a-z0-9+.-]{1,15}:/i

/** Returns true for media that are named by their id or address. */
function isNamed(name: string, held: unknown, depth = 0): boolean {
  if (typeof held === 'string') return idFields.has(name) || (name === 'id' && depth > 0) || address.test(held)
  if (depth > deepestText || !isFields(held)) return false
  for (const inner in held) if (isNamed(inner, held[inner], depth + 1)) return true
  return false
}

/** Returns the length of the longest text in a part: its data or its address. */
function longestText(held: unknown, depth = 0): number {
  if (typeof held === 'string') return held.length
  let longest = 0
  if (depth <= deepestText && isFields(held)) for (const name in held) longest = Math.max(longest, longestText(held[name], depth + 1))
  return longest
}
