import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import type { DialectId } from '../dialect.ts'
import { spendPartBag } from '../leftovers.ts'
import type { MediaSource, Part } from '../neutral/parts.ts'
import { modelFacts } from './model-facts.ts'

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
}

const usual: Readonly<Record<string, string>> = { image: 'image/jpeg', audio: 'audio/mpeg', video: 'video/mp4', file: 'application/pdf' }

/** Derives the type of a file behind an address from its ending. */
function typeOfUrl(url: string, kind: string): string {
  const ending = /\.([a-z0-9]{2,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? ''
  return types[ending] ?? usual[kind] ?? 'application/octet-stream'
}

const watched = /^https:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\//

/** The fields in which callers name a file. */
const fileNames: Readonly<Partial<Record<DialectId, string>>> = {
  'openai-chat': 'file.filename',
  'openai-responses': 'filename',
  anthropic: 'title',
}

interface MediaContext extends EncodeContext {
  /** The caller's dialect. */
  readonly dialect: DialectId
}

/** Writes an image, a file, a sound or a film: its bytes, or its address where the model opens it. */
export function writeMedia(source: MediaSource, part: Part, context: MediaContext): Fields {
  const { loss, dialect } = context
  if (part.kind === 'file' && part.name !== null) loss.dropAt(`${part.at}.${fileNames[dialect] ?? 'name'}`)
  const own = spendPartBag(part, 'google', loss)
  if (source.kind === 'base64') return { inlineData: { mimeType: source.mediaType, data: source.data }, ...own }
  if (source.kind === 'text') return { text: source.text }
  if (source.kind === 'url') return { fileData: writeAddress(source.url, part, context), ...own }
  if (source.dialect !== 'google') return loss.refuseAt(part.at, 'names a file that only its own vendor has')
  return { fileData: { fileUri: source.id }, ...own }
}

function writeAddress(url: string, { kind, at }: Part, { loss, model }: EncodeContext): Fields {
  const opens = modelFacts(model).opensUrls || url.startsWith('gs://') || watched.test(url)
  return opens ? { mimeType: typeOfUrl(url, kind), fileUri: url } : loss.refuseAt(at, 'must be a data URL: this model opens no addresses')
}
