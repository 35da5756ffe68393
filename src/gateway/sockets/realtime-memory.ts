import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The facts of a session that its turns are judged and priced by. */
export interface RealtimeMemory {
  /** Notes an event of the client's. */
  asked(event: Fields): void
  /** Notes an event of the provider's. */
  heard(event: Fields): void
  /** Returns true for the transcript of what was said, which states its own usage. */
  isTranscript(event: Fields): boolean
  model(): string | null
  transcriber(): string | null
  /** Takes the items that came since the last turn. */
  takeItems(): readonly Fields[]
  instructions(): string | null
}

/** Items with so many letters are kept for their turn. */
const mostLetters = 1024 * 1024

export function createMemory(named: string | null): RealtimeMemory {
  let [model, transcriber, instructions]: [string | null, string | null, string | null] = [named, null, null]
  let items: Fields[] = []
  let letters = 0

  function noteSession(session: unknown): void {
    if (!isFields(session)) return
    const audio = isFields(session['audio']) ? session['audio'] : {}
    const input = isFields(audio['input']) ? audio['input'] : {}
    // The name of the beta stands beside that of the general release.
    const transcription = input['transcription'] ?? session['input_audio_transcription']
    model ??= textOf(session['model'])
    if (isFields(transcription)) transcriber = textOf(transcription['model']) ?? transcriber
    instructions = textOf(session['instructions']) ?? instructions
  }

  return {
    asked({ type, item, session }) {
      if (type === 'session.update') noteSession(session)
      if (type !== 'conversation.item.create' || !isFields(item)) return
      const text = withoutSound(item)
      letters += JSON.stringify(text).length
      if (letters <= mostLetters) items.push(text)
    },
    heard({ type, session }) {
      if (type === 'session.created' || type === 'session.updated') noteSession(session)
    },
    isTranscript: ({ type, usage }) => type === 'conversation.item.input_audio_transcription.completed' && isFields(usage),
    model: () => model,
    transcriber: () => transcriber ?? model,
    takeItems() {
      const taken = items
      items = []
      letters = 0
      return taken
    },
    instructions: () => instructions,
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Sound is no text that guardrails read, and stands in no log. */
const withoutSound = (item: Fields): Fields => (Array.isArray(item['content']) ? { ...item, content: item['content'].map(silent) } : item)

function silent(part: unknown): unknown {
  return isFields(part) && 'audio' in part ? { ...part, audio: '' } : part
}

/** Returns the body of a turn, as the pipeline reads it: the items that are new, under the settings of the session. */
export function askedOfTurn(memory: RealtimeMemory, event: Fields): Fields {
  const response = isFields(event['response']) ? event['response'] : {}
  const own = Array.isArray(response['input']) ? response['input'] : []
  const instructions = response['instructions'] ?? memory.instructions()
  return {
    ...response,
    ...(memory.model() !== null && { model: memory.model() }),
    ...(instructions !== null && { instructions }),
    input: [...memory.takeItems(), ...own],
  }
}
