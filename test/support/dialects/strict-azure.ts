import type { Received } from '../emulator/emulator.ts'
import { refusalOf } from './strict.ts'

/** The fields that the common schema of all models has; a model's other fields are passed on, dropped or refused, by a header. */
const known: ReadonlySet<string> = new Set(
  'messages frequency_penalty stream presence_penalty temperature top_p max_tokens response_format stop tools tool_choice seed model'.split(
    ' ',
  ),
)

/** Why Azure's model inference refuses a request for a chat, in its own words; null: it takes it. */
export function refusalOfAzure({ url, headers, json: body }: Received): string | null {
  if (url !== '/models/chat/completions?api-version=2024-05-01-preview') return `no ${url}`
  if (headers['api-key'] === undefined && headers['authorization'] === undefined) return 'no key'
  const extra = Object.keys(body).find((name) => !known.has(name))
  if (extra !== undefined && headers['extra-parameters'] !== 'pass-through')
    return `Extra parameters ['${extra}'] are not allowed when extra-parameters is not set or set to be 'error'.`
  return refusalOf('openai', body)
}
