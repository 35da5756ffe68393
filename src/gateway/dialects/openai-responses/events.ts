import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { JsonPath } from '../../../lib/json/json-path.ts'
import type { ExtractedTexts, FrameText } from '../neutral/texts.ts'
import { channelName, copy, piece, place, readAll, shape, without } from '../texts/shape.ts'
import { inItems } from '../texts/walk.ts'

const eventShape = shape(
  ['annotation', 'annotations', 'partial_image_b64'],
  ['background', 'event_id', 'item_id', 'name', 'output_format', 'quality', 'response_id', 'size', 'status'],
  ['item', 'part', 'response'],
)
const itemShape = shape(['annotations'], ['call_id', 'container_id', 'name', 'phase', 'server_label', 'status'])

/**
 * Returns the texts of an event. Most texts come in pieces, and once more at the end of a part, of an item, and of all. Only the output of a
 * `response` is the model's: the rest repeats the request.
 */
export function responseEvent(json: Fields, type: string): ExtractedTexts {
  const name = channelOf(type.replace(/\.(?:delta|done)$/, ''), json)
  const isDone = type.endsWith('.done')
  const own = readAll(json, [], eventShape).map((read) => {
    if (isDone) return copy(name, read)
    return piece(read.path.length === 1 && read.path[0] === 'delta' ? name : channelName(name, ...read.path), read)
  })
  const { output_index: output, content_index: content, summary_index: summary, item, part, response } = json
  const list = summary === undefined ? 'content' : 'summary'
  return {
    ends: [],
    texts: [
      ...own,
      ...partTexts(part, ['part'], { list, output: place(output), at: place(content ?? summary) }),
      ...itemTexts(item, ['item'], place(output)),
      ...outputTexts(response),
    ],
  }
}

function outputTexts(response: unknown): readonly FrameText[] {
  const [output, path]: readonly [unknown, JsonPath] = isFields(response)
    ? [response['output'], ['response', 'output']]
    : [response, ['response']]
  return Array.isArray(output) ? inItems(output, path, itemTexts) : itemTexts(output, path, 0)
}

const channelOf = (name: string, { output_index: output, content_index: content, summary_index: summary }: Fields): string =>
  channelName(name, place(output), place(content ?? summary))

interface PartPlace {
  readonly list: 'content' | 'summary'
  readonly output: number
  readonly at: number
}

function partTexts(part: unknown, path: JsonPath, { list, output, at }: PartPlace): readonly FrameText[] {
  const type = isFields(part) && typeof part['type'] === 'string' ? part['type'] : 'output_text'
  const name = channelName(`response.${list === 'summary' ? 'reasoning_summary_text' : type}`, output, at)
  return readAll(part, path, itemShape).map((read) =>
    copy(read.below.length === 1 && said.has(String(read.below[0])) ? name : channelName(name, ...read.below), read),
  )
}

const said = new Set(['text', 'refusal', 'transcript'])

/** The channels of the texts that items have in a field of their own. */
const fieldChannels: Readonly<Record<string, string>> = {
  'code_interpreter_call.code': 'response.code_interpreter_call_code',
  'custom_tool_call.input': 'response.custom_tool_call_input',
  'function_call.arguments': 'response.function_call_arguments',
  'mcp_call.arguments': 'response.mcp_call_arguments',
}

function itemTexts(item: unknown, path: JsonPath, output: number): readonly FrameText[] {
  if (!isFields(item)) return readAll(item, path, itemShape).map((read) => copy(channelName('item', output, ...read.below), read))
  const type = String(item['type'])
  const parts = (['content', 'summary'] as const).flatMap((list) =>
    inItems(item[list], [...path, list], (part, to, at) => partTexts(part, to, { list, output, at })),
  )
  const lists = ['content', 'summary'].filter((name) => Array.isArray(item[name]))
  // A picture is no text.
  const rest = without(item, type === 'image_generation_call' ? [...lists, 'result'] : lists)
  const fields = readAll(rest, path, itemShape).map((read) => {
    const field = channelName(type, ...read.below)
    const known = Object.hasOwn(fieldChannels, field) ? fieldChannels[field] : undefined
    return copy(known === undefined ? channelName('item', output, ...read.below) : channelName(known, output, 0), read)
  })
  return [...parts, ...fields]
}
