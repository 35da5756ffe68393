import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The settings of a session: those that the provider has confirmed, and those that a client asked for since. */
export interface SessionSettings {
  /** Notes settings that a client asks for. Throws when too many wait for the provider. */
  asked(session: Fields): void
  /** Notes settings that the provider states. `isAnswer`: because the client asked for some. Throws when they are too large together. */
  heard(session: Fields, isAnswer: boolean): void
  confirmed(): Fields
  /** Returns the words among all of them: a client cannot hide those that hold behind others that the provider refuses. */
  words(): readonly Fields[]
}

/** Settings that wait for the provider may have so many characters, and those that it has stated as many again. */
const mostCharacters = 1024 * 1024
/** Each settings that wait cost as many beside their own. */
const askedCost = 100
/** A session has fewer settings: all of them are gone through for each turn. */
const mostNames = 256
/** The settings that each turn shares, which are kept also where no guardrail reads the others. */
const shared: ReadonlySet<string> = new Set([
  'model',
  'instructions',
  'modalities',
  'output_modalities',
  'audio',
  'input_audio_transcription',
])

const tooMany = (): ApiError =>
  new ApiError('payload_too_large', 'The settings that the provider has not answered are too large together.', { param: 'session' })

const tooManyStated = (): ApiError =>
  new ApiError(
    'upstream_bad_response',
    `The provider stated settings of the session with more than ${mostCharacters} characters, or ${mostNames} names.`,
  )

/** `isGuarded`: guardrails read the words of all settings. */
export function createSettings(isGuarded: boolean): SessionSettings {
  const stated = new Map<string, { readonly value: unknown; readonly length: number }>()
  let statedLength = 0
  const waiting: { readonly words: Fields; readonly length: number }[] = []
  let length = 0

  function keep(name: string, value: unknown): void {
    const size = name.length + JSON.stringify(value).length
    statedLength += size - (stated.get(name)?.length ?? 0)
    stated.set(name, { value, length: size })
    if (statedLength > mostCharacters || stated.size > mostNames) throw tooManyStated()
  }

  const confirmed = (): Fields => Object.fromEntries([...stated].map(([name, { value }]) => [name, value]))
  return {
    asked(session) {
      const words = wordsOf(session)
      const more = JSON.stringify(words).length + askedCost
      if (length + more > mostCharacters) throw tooMany()
      length += more
      waiting.push({ words, length: more })
    },
    heard(session, isAnswer) {
      for (const [name, value] of Object.entries(session)) if (isGuarded || shared.has(name)) keep(name, value)
      // The provider answers in order: each answer belongs to these settings, or to later ones, whose words are among the confirmed ones.
      if (isAnswer) length -= waiting.shift()?.length ?? 0
    },
    confirmed,
    words: () => [wordsOf(confirmed()), ...waiting.map(({ words }) => words)].filter((words) => Object.keys(words).length > 0),
  }
}

/** Settings without words for a model. */
const wordless: ReadonlySet<string> = new Set(
  `id object type model voice language modalities output_modalities expires_at temperature speed tool_choice tracing truncation include turn_detection
  input_audio_format output_audio_format input_audio_noise_reduction max_output_tokens max_response_output_tokens client_secret
  parallel_tool_calls reasoning`.split(/\s+/),
)

/** Returns the settings that hold words for a model: also those that are not known here. The name of a kept prompt is no words. */
function wordsOf(session: Fields): Fields {
  const { audio, prompt, input_audio_transcription: ofBeta, ...others } = session
  const ofSound = fieldsOf(fieldsOf(fieldsOf(audio)['input'])['transcription'])
  return said({
    ...others,
    prompt: isFields(prompt) ? prompt['variables'] : prompt,
    transcription: said({ ...ofSound, ...fieldsOf(ofBeta) }),
  })
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const said = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => !wordless.has(name) && !isEmpty(value)))
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
