import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { DialectTexts } from '../dialect.ts'
import type { ExtractedTexts } from '../neutral/texts.ts'
import { turns } from '../texts/readers.ts'
import { channelName, piece, place, readAll, shape } from '../texts/shape.ts'

const messageTypes: ReadonlySet<unknown> = new Set([
  'content_block_delta',
  'content_block_start',
  'content_block_stop',
  'message_delta',
  'message_start',
  'message_stop',
  'ping',
])
const messageShape = shape(['stop_reason', 'stop_sequence'], ['name', 'tool_use_id'])
/** The fields that can hold the text of a block: it has one of them. */
const blockTexts = new Set(['text', 'partial_json', 'thinking'])

function frame(json: Fields): ExtractedTexts | null {
  if (!messageTypes.has(json['type'])) return null
  const speaker = channelName('content', place(json['index']))
  const block = json['content_block']
  const isSealed = isFields(block) && block['type'] === 'redacted_thinking'
  const found = readAll(json, [], messageShape).flatMap((read) => {
    const [head, ...steps] = read.below
    if (isSealed && steps[0] === 'data') return []
    const own = steps.length === 1 && blockTexts.has(String(steps[0])) && (head === 'delta' || head === 'content_block')
    return piece(own ? speaker : channelName(speaker, ...read.below), read, speaker)
  })
  return { texts: found, ends: json['type'] === 'content_block_stop' ? [speaker] : [] }
}

export const texts: DialectTexts = {
  system: ['system'],
  request: { messages: turns },
  conversations: ['messages'],
  roles: { tools: 'system' },
  unheard: ['metadata', 'stop_sequences'],
  answer: ['content'],
  speaks: true,
  frame,
  lastFrames: ['message_stop'],
}
