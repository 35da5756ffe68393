import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { childOf, type JsonPath } from '../../../lib/json/json-path.ts'
import type { DialectTexts } from '../dialect.ts'
import type { ExtractedTexts, FrameText } from '../neutral/texts.ts'
import { turns } from '../texts/readers.ts'
import { channelName, piece, place, readAll, shape } from '../texts/shape.ts'
import { inItems } from '../texts/walk.ts'

/** Returns the texts of a frame with choices, which chats and completions share. */
export function choicesFrame(json: Fields): ExtractedTexts | null {
  const { choices } = json
  if (!Array.isArray(choices)) return null
  const beside = readAll(json, [], chatFrame).map((read) => piece(channelName(...read.path), read))
  const texts = inItems(choices, ['choices'], (choice, path, at) => choiceTexts(choice, path, choiceName(choice, at)))
  const ends = choices.flatMap((choice, at) => (isFields(choice) && ended(choice['finish_reason']) ? [choiceName(choice, at)] : []))
  return { texts: [...texts, ...beside], ends }
}

export const texts: DialectTexts = {
  request: { messages: turns },
  conversations: ['messages'],
  // The application's author wrote tool descriptions and response formats.
  roles: { tools: 'system', functions: 'system', response_format: 'system', prediction: 'assistant' },
  unheard: ['metadata', 'stop'],
  answer: ['choices'],
  speaks: true,
  frame: choicesFrame,
}

const chatFrame = shape(
  ['citations', 'hook_results', 'prompt_filter_results', 'prompt_logprobs', 'provider', 'search_results', 'timings', 'x_groq'],
  ['created', 'request_id'],
  ['choices'],
)
const choiceShape = shape(
  [
    'annotations',
    'content_filter_offsets',
    'content_filter_results',
    'finish_details',
    'finish_reason',
    'native_finish_reason',
    'stop_reason',
  ],
  ['call_id', 'format', 'name', 'tool_call_id'],
)

const choiceName = (choice: unknown, at: number): string => channelName('choices', place(isFields(choice) ? choice['index'] : at, at))
const ended = (reason: unknown): boolean => typeof reason === 'string' && reason !== ''

/** Bytes of sounds, and thoughts that cannot be read. */
const sealed = new Set(['audio', 'reasoning_details'])

function choiceTexts(choice: unknown, path: JsonPath, speaker: string): readonly FrameText[] {
  const found: FrameText[] = []
  for (const read of readAll(choice, path, choiceShape)) {
    const [head, field] = read.below
    if (read.below.at(-1) === 'data' && sealed.has(String(field))) continue
    const steps = numbered(choice, read.below).filter((step, at) => step !== '' && (at > 0 || (step !== 'delta' && step !== 'message')))
    const channel = channelName(speaker, ...steps).replace(/\.text$/, '')
    const own = { path: read.path, text: read.text, speaker, beside: field === 'tool_calls', whole: false }
    if (head === 'message') found.push({ ...own, channel: `${channel} of the message`, copyOf: channel })
    else found.push({ ...own, channel, copyOf: null })
  }
  return found
}

/** Returns the steps with calls of tools by the number that they bear themselves; parts of a content have none: together they are one text. */
function numbered(choice: unknown, below: JsonPath): readonly (string | number)[] {
  let value: unknown = choice
  return below.map((step, at) => {
    value = childOf(value, step)
    if (typeof step !== 'number') return step
    return below[at - 1] === 'tool_calls' ? place(isFields(value) ? value['index'] : step, step) : ''
  })
}
