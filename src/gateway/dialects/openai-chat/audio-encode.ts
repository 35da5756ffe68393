import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import type { AudioPart } from '../neutral/parts.ts'

/** The audio formats that OpenAI's models take, by media type. */
const formats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

/** Writes a sound as chats have it; responses have none. */
export function writeAudio({ source, at }: AudioPart, { loss, traits }: Pick<EncodeContext, 'loss' | 'traits'>): Fields {
  if (source.kind !== 'base64') return loss.refuseAt(at, 'must hold the sound itself, in base64')
  const type = source.mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const format = formats[type]
  if (format === undefined) return loss.refuseAt(at, `is of the type ${type.slice(0, 60)}, and this provider takes WAV and MP3`)
  if (traits.documentUrls) return { type: 'input_audio', input_audio: source.data }
  return { type: 'input_audio', input_audio: { data: source.data, format } }
}
