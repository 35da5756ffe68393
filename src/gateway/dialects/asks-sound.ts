import { type Fields, isFields } from '../../lib/json/fields.ts'

/** Returns true for a request whose answer may be sound, in the words of any format. */
export function asksSound(json: unknown): boolean {
  if (!isFields(json)) return false
  const settings = json['generationConfig'] ?? json['generation_config']
  return [json, isFields(settings) ? settings : null].some((fields) => fields !== null && namesSound(fields))
}

const namesSound = ({ modalities, responseModalities, response_modalities: snake }: Fields): boolean =>
  [modalities, responseModalities, snake].some(
    (list) => Array.isArray(list) && list.some((one: unknown) => typeof one === 'string' && one.toLowerCase() === 'audio'),
  )
