import type { Fields } from '../../../lib/json/fields.ts'
import { compact } from '../compact.ts'
import { base64Media } from '../media.ts'
import type { MediaSource, Part } from '../neutral/parts.ts'
import { fieldsIn, neededText, textIn } from '../reading.ts'
import { camelCased } from './signature.ts'

/** Reads media whose bytes are there. */
export function readInline(part: Fields, at: string): readonly Part[] {
  const inline = camelCased(fieldsIn(part, 'inlineData', `${at}.`) ?? {})
  const place = `${at}.inlineData.`
  const mediaType = textIn(inline, 'mimeType', place) ?? 'application/octet-stream'
  return [
    readMedia(mediaType, base64Media(mediaType, neededText(inline, 'data', place)), {
      part,
      at,
      name: textIn(inline, 'displayName', place),
    }),
  ]
}

/** Files that were uploaded to Google are known there alone. */
const uploaded = /^(?:https:\/\/generativelanguage\.googleapis\.com\/[^/]+\/)?files\/[^/]+$/

/** Reads media by their address. */
export function readFile(part: Fields, at: string): readonly Part[] {
  const file = camelCased(fieldsIn(part, 'fileData', `${at}.`) ?? {})
  const url = neededText(file, 'fileUri', `${at}.fileData.`)
  const source: MediaSource = uploaded.test(url) ? { kind: 'id', dialect: 'google', id: url } : { kind: 'url', url }
  const mediaType = textIn(file, 'mimeType', `${at}.fileData.`) ?? 'application/octet-stream'
  return [readMedia(mediaType, source, { part, at, name: textIn(file, 'displayName', `${at}.fileData.`) })]
}

interface FoundMedia {
  readonly part: Fields
  readonly at: string
  readonly name: string | null
}

const details: Readonly<Record<string, string>> = {
  MEDIA_RESOLUTION_LOW: 'low',
  MEDIA_RESOLUTION_MEDIUM: 'auto',
  MEDIA_RESOLUTION_HIGH: 'high',
  MEDIA_RESOLUTION_ULTRA_HIGH: 'high',
}

function readMedia(mediaType: string, source: MediaSource, { part, at, name }: FoundMedia): Part {
  const { videoMetadata, mediaResolution } = part
  const level = mediaResolution === null || typeof mediaResolution !== 'object' ? mediaResolution : Object.values(mediaResolution)[0]
  const own = compact({ videoMetadata, ...(!mediaType.startsWith('image/') && { mediaResolution }) })
  const base = { at, cache: null, bag: Object.keys(own).length === 0 ? null : { google: own } }
  if (mediaType.startsWith('image/')) return { kind: 'image', source, detail: details[String(level)] ?? null, ...base }
  if (mediaType.startsWith('audio/')) return { kind: 'audio', source, ...base }
  if (mediaType.startsWith('video/')) return { kind: 'video', source, ...base }
  return { kind: 'file', source, name, ...base }
}
