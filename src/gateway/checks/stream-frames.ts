import { editJson } from '../../lib/json-edit.ts'
import type { JsonPath } from '../../lib/json-path.ts'
import { type Fields, isFields } from '../../lib/fields.ts'
import { everyText, isVast, items } from './walk.ts'

/** A text in one frame of a stream. */
export interface FrameText {
  /** Frames of one channel add up to one text. */
  readonly channel: string
  /** Where in the frame's JSON it stands. */
  readonly path: JsonPath
  readonly text: string
  /** Whether it says again what the frames before have said. */
  readonly copy: boolean
}

/** One server-sent event. */
export interface Frame {
  readonly bytes: Buffer
  readonly texts: readonly FrameText[]
  /** Whether nothing that a model says comes after it. */
  readonly last: boolean
}

const frameEnd = /(?:\r\n|\n|\r)(?:\r\n|\n|\r)/g

/** Cuts bytes that hold whole frames; what is behind the last end is a frame too. */
export function cutFrames(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = []
  let from = 0
  for (const { index, 0: end } of bytes.toString('latin1').matchAll(frameEnd)) {
    frames.push(toFrame(bytes.subarray(from, index + end.length)))
    from = index + end.length
  }
  if (from < bytes.length) frames.push(toFrame(bytes.subarray(from)))
  return frames
}

function toFrame(bytes: Buffer): Frame {
  const data = dataOf(bytes)
  if (data === '[DONE]') return { bytes, texts: [], last: true }
  const json = parsed(data)
  if (json === undefined) return { bytes, texts: data === '' ? [] : [{ channel: 'data', path: [], text: data, copy: false }], last: false }
  return { bytes, texts: frameTexts(json), last: isFields(json) && lastTypes.has(String(json['type'])) }
}

const lastTypes = new Set(['message_stop', 'response.completed', 'response.incomplete', 'response.failed'])

/** The lines end where those of the client's parser do: at CR and LF, and not at the other line ends that Unicode has. */
const linesOf = (bytes: Buffer): readonly string[] => bytes.toString('utf8').split(/\r\n|\n|\r/)

const dataOf = (bytes: Buffer): string =>
  linesOf(bytes)
    .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : line.startsWith('data:') ? [line.slice(5)] : []))
    .join('\n')

/** The JSON of a frame; undefined when it is none, or too much to be looked through: then it is a text like any other. */
function parsed(data: string): unknown {
  if (!data.startsWith('{') && !data.startsWith('[')) return undefined
  try {
    const json: unknown = JSON.parse(data)
    return isVast(json) ? undefined : json
  } catch {
    return undefined
  }
}

/** The frame with other texts, its other lines as they were. */
export function rewriteFrame(bytes: Buffer, edits: readonly { readonly path: JsonPath; readonly value: string }[]): Buffer {
  const data = dataOf(bytes)
  const json = parsed(data)
  const changed = json === undefined ? (edits.at(-1)?.value ?? '') : editJson(data, edits)
  const others = linesOf(bytes).filter((line) => line !== '' && !line.startsWith('data:'))
  return Buffer.from([...others, ...changed.split('\n').map((line) => `data: ${line}`), '', ''].join('\n'))
}

/** What is said in the JSON of one frame. */
export function frameTexts(json: unknown): readonly FrameText[] {
  if (!isFields(json)) return fallback(json)
  if (Array.isArray(json['choices']))
    return items(json['choices'], ['choices']).flatMap(([choice, path], at) => (isFields(choice) ? choiceTexts(choice, path, at) : []))
  if (Array.isArray(json['candidates'])) return candidates(json)
  if (typeof json['type'] === 'string') return eventTexts(json, json['type'])
  return fallback(json)
}

const fallback = (json: unknown): readonly FrameText[] =>
  everyText(json, [], 'assistant').map((part) => ({ channel: part.path.join('.'), path: part.path, text: part.text, copy: false }))

function text(value: unknown, path: JsonPath, channel: string): FrameText[] {
  return typeof value === 'string' && value !== '' ? [{ channel, path, text: value, copy: false }] : []
}

function choiceTexts(choice: Fields, path: JsonPath, at: number): readonly FrameText[] {
  const index = typeof choice['index'] === 'number' ? choice['index'] : at
  const own = text(choice['text'], [...path, 'text'], `choices.${index}.text`)
  const delta = choice['delta']
  if (!isFields(delta)) return own
  const named = ['content', 'refusal', 'reasoning_content', 'reasoning'].flatMap((name) =>
    text(delta[name], [...path, 'delta', name], `choices.${index}.${name}`),
  )
  const calls = items(delta['tool_calls'], [...path, 'delta', 'tool_calls']).flatMap(([call, to], position) => {
    if (!isFields(call) || !isFields(call['function'])) return []
    const which = typeof call['index'] === 'number' ? call['index'] : position
    return text(call['function']['arguments'], [...to, 'function', 'arguments'], `choices.${index}.tool_calls.${which}`)
  })
  return own.concat(named, calls)
}

const candidates = (json: Fields): readonly FrameText[] =>
  items(json['candidates'], ['candidates']).flatMap(([candidate, path], at) => {
    const content = isFields(candidate) ? candidate['content'] : undefined
    return isFields(content)
      ? items(content['parts'], [...path, 'content', 'parts']).flatMap(([part, to]) =>
          isFields(part) ? text(part['text'], [...to, 'text'], `candidates.${at}`) : [],
        )
      : []
  })

/** Events that name their type: those of the messages and of the responses APIs. */
function eventTexts(json: Fields, type: string): readonly FrameText[] {
  const { delta, index } = json
  if (type === 'content_block_delta' && isFields(delta))
    return ['text', 'partial_json', 'thinking'].flatMap((name) => text(delta[name], ['delta', name], `content.${place(index)}`))
  if (type === 'content_block_start' && isFields(json['content_block']))
    return text(json['content_block']['text'], ['content_block', 'text'], `content.${place(index)}`)
  if (typeof delta === 'string') return text(delta, ['delta'], channelOf(type.replace(/\.delta$/, ''), json))
  return copies(json, type).map(({ channel, path, text: said }) => ({ channel, path, text: said, copy: true }))
}

const place = (index: unknown): number => (typeof index === 'number' ? index : 0)

const channelOf = (name: string, { output_index: output, content_index: content, summary_index: summary }: Fields): string =>
  `${name}.${place(output)}.${place(content ?? summary)}`

/** Events at whose end all is said once more. */
function copies(json: Fields, type: string): readonly FrameText[] {
  const own = ['text', 'arguments', 'refusal'].flatMap((name) => text(json[name], [name], channelOf(type.replace(/\.done$/, ''), json)))
  const part = isFields(json['part']) ? partCopies(json['part'], ['part'], [json['output_index'], json['content_index']]) : []
  const item = isFields(json['item']) ? itemCopies(json['item'], ['item'], json['output_index']) : []
  const response = json['response']
  const whole = isFields(response)
    ? items(response['output'], ['response', 'output']).flatMap(([entry, path], at) => (isFields(entry) ? itemCopies(entry, path, at) : []))
    : []
  return own.concat(part, item, whole)
}

function itemCopies(item: Fields, path: JsonPath, output: unknown): FrameText[] {
  const called = text(item['arguments'], [...path, 'arguments'], `response.function_call_arguments.${place(output)}.0`)
  const content = items(item['content'], [...path, 'content']).flatMap(([part, to], at) =>
    isFields(part) ? partCopies(part, to, [output, at]) : [],
  )
  const summary = items(item['summary'], [...path, 'summary']).flatMap(([part, to], at) =>
    isFields(part) ? text(part['text'], [...to, 'text'], `response.reasoning_summary_text.${place(output)}.${at}`) : [],
  )
  return called.concat(content, summary)
}

function partCopies(part: Fields, path: JsonPath, [output, content]: readonly unknown[]): FrameText[] {
  const where = `${place(output)}.${place(content)}`
  return text(part['text'], [...path, 'text'], `response.output_text.${where}`).concat(
    text(part['refusal'], [...path, 'refusal'], `response.refusal.${where}`),
  )
}
