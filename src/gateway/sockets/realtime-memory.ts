import { type Fields, isFields } from '../../lib/json/fields.ts'
import { type ConversationSize, createSize } from './conversation-size.ts'
import { createSettings, type SessionSettings } from './session-settings.ts'

/** The facts of a session that its turns are judged and priced by. */
export interface RealtimeMemory {
  /** Notes an event of the client's. Throws for one that holds too much. */
  asked(event: Fields): void
  /** Notes an event of the provider's. Throws for one that states too much. */
  heard(event: Fields): void
  /** Null: it is not known. */
  model(): string | null
  /** The model of transcripts, as the provider states it: a client would name its price. */
  transcriber(): string | null
  /** Takes the items that came since the last turn. */
  takeItems(): readonly Fields[]
  readonly settings: SessionSettings
  readonly size: ConversationSize
  /** True: items and settings are judged, so that none is left out. */
  readonly isGuarded: boolean
}

/** Items with so many letters are kept for their turn. */
const mostLetters = 1024 * 1024

interface MemoryOptions {
  /** The model of the handshake; null: it names none. */
  readonly named: string | null
  readonly isGuarded: boolean
  /** True: the session goes on from a call that was begun elsewhere. */
  readonly isJoined: boolean
}

export function createMemory({ named, isGuarded, isJoined }: MemoryOptions): RealtimeMemory {
  const [settings, size] = [createSettings(isGuarded), createSize(isJoined)]
  let items: Fields[] = []
  let letters = 0

  function addItem(item: Fields): void {
    const text = withoutSound(item)
    size.addSound(soundIn(item))
    letters += JSON.stringify(text).length
    if (isGuarded || letters <= mostLetters) items.push(text)
    else size.addText(JSON.stringify(text).length)
  }

  return {
    asked(event) {
      const { type, item, session, audio } = event
      if (isUpdate(type) && isFields(session) && isGuarded) settings.asked(session)
      else if (type === 'conversation.item.create' && isFields(item)) addItem(item)
      else if (type === 'input_audio_buffer.append' && typeof audio === 'string') size.addSound(audio.length)
      else if (isGuarded && waitsForTurn(event)) addItem(event)
    },
    heard({ type, session }) {
      if (isFields(session) && (isUpdated(type) || isCreated(type))) settings.heard(session, isUpdated(type))
    },
    model: () => named ?? textOf(settings.confirmed()['model']),
    transcriber: () => textOf(transcriptionOf(settings.confirmed())['model']),
    takeItems() {
      const taken = items
      items = []
      letters = 0
      return taken
    },
    settings,
    size,
    isGuarded,
  }
}

const isUpdated = (type: unknown): boolean => type === 'session.updated' || type === 'transcription_session.updated'
const isCreated = (type: unknown): boolean => type === 'session.created' || type === 'transcription_session.created'
export const isUpdate = (type: unknown): boolean => type === 'session.update' || type === 'transcription_session.update'

/** The events of clients that have no words for a model, and those that are turns or settings. */
const wordless: ReadonlySet<unknown> = new Set([
  'response.create',
  'response.cancel',
  'session.update',
  'transcription_session.update',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'output_audio_buffer.clear',
  'conversation.item.retrieve',
  'conversation.item.truncate',
  'conversation.item.delete',
])

/** Returns true for an event with words that guardrails judge with the next turn: an item, or an event that is not known here. */
export const waitsForTurn = ({ type }: Fields): boolean => !wordless.has(type)

/** Returns the settings of transcripts. The name of the beta stands beside that of the general release. */
export function transcriptionOf(session: Fields): Fields {
  const audio = isFields(session['audio']) ? session['audio'] : {}
  const input = isFields(audio['input']) ? audio['input'] : {}
  const transcription = input['transcription'] ?? session['input_audio_transcription']
  return isFields(transcription) ? transcription : {}
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Sound is no text that guardrails read, and stands in no log. */
const withoutSound = (item: Fields): Fields => (Array.isArray(item['content']) ? { ...item, content: item['content'].map(silent) } : item)

function silent(part: unknown): unknown {
  return isFields(part) && 'audio' in part ? { ...part, audio: '' } : part
}

const soundIn = ({ content }: Fields): number =>
  Array.isArray(content)
    ? content.reduce<number>((sum, part) => sum + (isFields(part) && typeof part['audio'] === 'string' ? part['audio'].length : 0), 0)
    : 0
