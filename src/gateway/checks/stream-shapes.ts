import { type Fields, isFields } from '../../lib/json/fields.ts'
import { childOf, type JsonPath } from '../../lib/json/json-path.ts'
import { responseEvent } from './stream-response-events.ts'
import { channelName, type FrameText, nothing, piece, place, readAll, type Said, shape, type Shape, unknownShape } from './stream-text.ts'
import { items } from './walk.ts'

/** What is said in the JSON of one frame. Of a shape that is known it is known what is no text; of any other all counts. */
export function saidIn(json: unknown): Said {
  if (!isFields(json)) return unknownFrame(json, 'data')
  if (Array.isArray(json['choices'])) return chat(json, json['choices'])
  if (Array.isArray(json['candidates'])) return gemini(json, json['candidates'])
  const type = json['type']
  if (typeof type !== 'string') return unknownFrame(json, 'data')
  if (type.startsWith('response.')) return responseEvent(json, type)
  return messageTypes.has(type) ? messageEvent(json, type) : unknownFrame(json, type.replace(/[-._](?:start|delta|end|stop|done)$/, ''))
}

function unknownFrame(json: unknown, name: string): Said {
  const index = isFields(json) ? place(json['index']) : 0
  return { ...nothing, texts: readAll(json, [], unknownShape).map((read) => piece(channelName(name, index, ...read.path), read)) }
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

/** Chats and completions. */
function chat(json: Fields, choices: readonly unknown[]): Said {
  const beside = readAll(json, [], chatFrame).map((read) => piece(channelName(...read.path), read))
  const texts = items(choices, ['choices']).flatMap(([choice, path], at) => choiceTexts(choice, path, choiceName(choice, at)))
  const ends = choices.flatMap((choice, at) => (isFields(choice) && ended(choice['finish_reason']) ? [choiceName(choice, at)] : []))
  return { texts: [...texts, ...beside], ends }
}

const choiceName = (choice: unknown, at: number): string => channelName('choices', place(isFields(choice) ? choice['index'] : at, at))
const ended = (reason: unknown): boolean => typeof reason === 'string' && reason !== ''

/** Bytes of sounds, and thoughts that cannot be read. */
const sealed = new Set(['audio', 'reasoning_details'])

function choiceTexts(choice: unknown, path: JsonPath, speaker: string): readonly FrameText[] {
  const texts: FrameText[] = []
  for (const read of readAll(choice, path, choiceShape)) {
    const [head, field] = read.below
    if (read.below.at(-1) === 'data' && sealed.has(String(field))) continue
    const steps = numbered(choice, read.below).filter((step, at) => step !== '' && (at > 0 || (step !== 'delta' && step !== 'message')))
    const channel = channelName(speaker, ...steps).replace(/\.text$/, '')
    const own = { path: read.path, text: read.text, speaker, beside: field === 'tool_calls', whole: false }
    if (head === 'message') texts.push({ ...own, channel: `${channel} of the message`, copyOf: channel })
    else texts.push({ ...own, channel, copyOf: null })
  }
  return texts
}

/** The steps, with calls of tools by the number that they bear themselves; parts of a content have none: together they are one text. */
function numbered(choice: unknown, below: JsonPath): readonly (string | number)[] {
  let value: unknown = choice
  return below.map((step, at) => {
    value = childOf(value, step)
    if (typeof step !== 'number') return step
    return below[at - 1] === 'tool_calls' ? place(isFields(value) ? value['index'] : step, step) : ''
  })
}

const geminiFrame = shape(['promptFeedback', 'usageMetadata'], ['createTime', 'modelVersion', 'responseId'], ['candidates'])
const candidateShape: Shape = shape(
  ['citationMetadata', 'groundingMetadata', 'inlineData', 'logprobsResult', 'safetyRatings', 'thoughtSignature', 'urlContextMetadata'],
  ['finishReason', 'language', 'name', 'outcome'],
)

const candidateName = (candidate: unknown, at: number): string =>
  channelName('candidates', place(isFields(candidate) ? candidate['index'] : at, at))

function gemini(json: Fields, candidates: readonly unknown[]): Said {
  const beside = readAll(json, [], geminiFrame).map((read) => piece(channelName(...read.path), read))
  const texts = items(candidates, ['candidates']).flatMap(([candidate, path], at) =>
    readAll(candidate, path, candidateShape).map((read) => {
      const steps = read.below.filter((step) => typeof step === 'string' && !['content', 'parts', 'text'].includes(step))
      return piece(channelName(candidateName(candidate, at), ...steps), read, candidateName(candidate, at))
    }),
  )
  const ends = candidates.flatMap((candidate, at) =>
    isFields(candidate) && ended(candidate['finishReason']) ? [candidateName(candidate, at)] : [],
  )
  return { texts: [...texts, ...beside], ends }
}

const messageTypes = new Set([
  'content_block_delta',
  'content_block_start',
  'content_block_stop',
  'message_delta',
  'message_start',
  'message_stop',
  'ping',
])
const messageShape = shape(['stop_reason', 'stop_sequence'], ['name', 'tool_use_id'])
/** What a block says, in whatever field: it has one of them. */
const blockTexts = new Set(['text', 'partial_json', 'thinking'])

/** Events of the messages API. */
function messageEvent(json: Fields, type: string): Said {
  const speaker = channelName('content', place(json['index']))
  const block = json['content_block']
  const isSealed = isFields(block) && block['type'] === 'redacted_thinking'
  const texts = readAll(json, [], messageShape).flatMap((read) => {
    const [head, ...steps] = read.below
    if (isSealed && steps[0] === 'data') return []
    const own = steps.length === 1 && blockTexts.has(String(steps[0])) && (head === 'delta' || head === 'content_block')
    return piece(own ? speaker : channelName(speaker, ...read.below), read, speaker)
  })
  return { texts, ends: type === 'content_block_stop' ? [speaker] : [] }
}
