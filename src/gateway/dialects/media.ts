import type { MediaSource } from './neutral/parts.ts'
import type { Traits } from './traits.ts'

const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*),/i

/** Reads a URL that may hold the bytes itself: media types may have parameters, and base64 line breaks or the letters of URLs. */
export function mediaOfUrl(url: string): MediaSource {
  const found = dataUrl.exec(url.length > 300 ? url.slice(0, 300) : url)
  if (found === null) return { kind: 'url', url }
  const [head, type = '', parameters = ''] = found
  const rest = url.slice(head.length)
  const mediaType = type === '' ? 'text/plain' : type.toLowerCase()
  if (/;base64$/i.test(parameters)) return base64Media(mediaType, rest)
  return { kind: 'base64', mediaType, data: Buffer.from(decodeURIComponentSafely(rest)).toString('base64') }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns base64 as plain base64, with the type of its first bytes: providers refuse an image under a wrong name. */
export function base64Media(mediaType: string, data: string): MediaSource {
  const plain = /[\s_-]/.test(data) ? data.replaceAll(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/') : data
  return { kind: 'base64', mediaType: sniffed(plain) ?? mediaType, data: plain }
}

/** The beginnings of images and PDFs in base64. */
const beginnings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi', 'application/pdf'],
]

function sniffed(data: string): string | null {
  for (const [beginning, type] of beginnings) if (data.startsWith(beginning)) return type
  return data.startsWith('UklGR') && data.slice(10, 16).startsWith('FXRU') ? 'image/webp' : null
}

/** Returns media as a URL, with the bytes in it where they are at hand; null for an id and for plain text. */
export function urlOfMedia(source: MediaSource): string | null {
  if (source.kind === 'url') return source.url
  return source.kind === 'base64' ? `data:${source.mediaType};base64,${source.data}` : null
}

/** Returns true if a file of OpenAI's formats is known by its id to a provider that is asked in one of them. */
export const keepsFile = ({ dialect }: MediaSource & { readonly kind: 'id' }, { keepsFiles }: Pick<Traits, 'keepsFiles'>): boolean =>
  dialect === 'openai-chat' && keepsFiles
