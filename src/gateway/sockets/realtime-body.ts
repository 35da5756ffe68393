import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ReadBefore } from '../limits/read-before.ts'
import { type RealtimeMemory, transcriptionOf } from './realtime-memory.ts'

/** A turn as the pipeline reads it. */
export interface AskedTurn {
  readonly json: Fields
  /** The conversation that the provider reads with it; null: none, since it is a transcript. */
  readonly before: ReadBefore | null
  /** Its place in the conversation. */
  readonly place: number
}

/** Returns a response: the items that are new, under the settings of the session. `isBeside`: another one runs. */
export function askedOfTurn(memory: RealtimeMemory, event: Fields, isBeside: boolean): AskedTurn {
  const response = isFields(event['response']) ? event['response'] : {}
  const own = Array.isArray(response['input']) ? response['input'] : []
  const words = memory.isGuarded ? memory.settings.words() : []
  const input = [...memory.takeItems(), ...own]
  const json = {
    ...response,
    ...withoutNothing({ model: memory.model(), ...sharedSettings(response, memory.settings.confirmed()) }),
    ...(words.length > 0 && { session: words }),
    input,
  }
  return { json, ...memory.size.begin(JSON.stringify(input).length, isBeside) }
}

/** Returns the settings that hold for each response of a session, unless it has its own. */
const sharedSettings = (response: Fields, session: Fields): Fields => ({
  instructions: response['instructions'] ?? session['instructions'],
  modalities: response['output_modalities'] ?? response['modalities'] ?? session['output_modalities'] ?? session['modalities'],
})

const withoutNothing = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** Returns a transcript of what was said. Its prompt is judged, where guardrails read the settings. */
export function askedOfTranscript(memory: RealtimeMemory): AskedTurn {
  const { prompt } = transcriptionOf(memory.settings.confirmed())
  const model = memory.transcriber()
  return {
    json: { ...(model !== null && { model }), ...(memory.isGuarded && typeof prompt === 'string' && { prompt }) },
    before: null,
    place: 0,
  }
}
