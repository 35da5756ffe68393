import { exactJson } from '../../../lib/json/exact-json.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import { type Part, type ReasoningPart, textPart, type ToolResultPart } from '../neutral/parts.ts'
import type { Turn } from '../neutral/request.ts'
import { addSaid, type ModelContent } from './model-turns.ts'
import { Turns } from '../neutral/turns.ts'
import { fieldsAt, fieldsIn, flagIn, listIn, neededText, textIn, unreadable } from '../reading.ts'
import { argumentsText, hashedId } from '../tool-calls.ts'
import { readFile, readInline } from './media-decode.ts'
import { camelCased, carriedParts, readCarrier } from './signature.ts'
import { AskedCalls } from './asked-calls.ts'

interface ReadState {
  /** The calls of the last turn of the model that have no result yet. */
  readonly asked: AskedCalls
}

/** Reads a conversation. */
export function readContents(contents: readonly unknown[]): readonly Turn[] {
  const turns = new Turns()
  const reading: ReadState = { asked: new AskedCalls() }
  const said: ModelContent[] = []
  for (const [index, item] of contents.entries()) {
    const at = `contents[${index}]`
    const content = fieldsAt(item, at)
    const role = textIn(content, 'role', `${at}.`) ?? 'user'
    if (role === 'model') {
      if (said.length === 0) reading.asked.clear()
      said.push({ at, parts: readParts(content, at, reading) })
      continue
    }
    addSaid(turns, said)
    if (role === 'user' || role === 'function' || role === 'tool') {
      const parts = readParts(content, at, reading)
      turns.add(
        'tool',
        parts.filter((part) => isResult(part)),
        at,
      )
      turns.add(
        'user',
        parts.filter((part) => !isResult(part)),
        at,
      )
    } else throw unreadable(`${at}.role`, 'user or model')
  }
  addSaid(turns, said)
  return turns.list
}

const isResult = (part: Part): part is ToolResultPart => part.kind === 'tool-result'

const readParts = (content: Fields, at: string, reading: ReadState): readonly Part[] =>
  listIn(content, 'parts', `${at}.`).flatMap((part, index) => {
    const place = `${at}.parts[${index}]`
    return readPart(camelCased(fieldsAt(part, place)), place, reading)
  })

/** Reads instructions. */
export const readSystem = (content: Fields | null): readonly Part[] =>
  content === null ? [] : readParts(content, 'systemInstruction', { asked: new AskedCalls() })

/** The fields that can hold the content of a part. */
const kinds = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const

const readers: Readonly<Record<(typeof kinds)[number], (part: Fields, at: string, reading: ReadState) => readonly Part[]>> = {
  text: readText,
  inlineData: readInline,
  fileData: readFile,
  functionCall: readCall,
  functionResponse: readResult,
  executableCode: readOpaque,
  codeExecutionResult: readOpaque,
  toolCall: readOpaque,
  toolResponse: readOpaque,
}

function readPart(part: Fields, at: string, reading: ReadState): readonly Part[] {
  const kind = kinds.find((name) => part[name] !== undefined && part[name] !== null)
  if (kind !== undefined) return readers[kind](part, at, reading)
  if (part['thoughtSignature'] !== undefined) return readText({ ...part, text: '' }, at)
  throw unreadable(at, `an object with one of ${kinds.slice(0, 5).join(', ')}`)
}

function readText(part: Fields, at: string): readonly Part[] {
  const text = neededText(part, 'text', `${at}.`)
  const { own, carried } = readCarrier(part['thoughtSignature'])
  if (flagIn(part, 'thought', `${at}.`) === true) {
    const foreign = carriedParts(carried, at)
    return text === '' && own === null ? foreign : [reasoning(text, own, at), ...foreign]
  }
  const said = text === '' ? [] : [textPart(text, at)]
  return own === null ? [...carriedParts(carried, at), ...said] : [...said, reasoning('', own, at)]
}

const reasoning = (text: string, signature: ReasoningPart['signature'], at: string): ReasoningPart => ({
  kind: 'reasoning',
  text,
  signature,
  redacted: false,
  at,
  cache: null,
  bag: null,
})

function readCall(part: Fields, at: string, { asked }: ReadState): readonly Part[] {
  const call = fieldsIn(part, 'functionCall', `${at}.`) ?? {}
  const place = `${at}.functionCall.`
  const name = neededText(call, 'name', place)
  const id = textIn(call, 'id', place) || `call_${hashedId(`${at}:${name}`, 24)}`
  const args = fieldsIn(call, 'args', place)
  const { own, carried } = readCarrier(part['thoughtSignature'])
  asked.add({ id, name })
  return [
    ...carriedParts(carried, at),
    { kind: 'tool-call', id, name, arguments: argumentsText(args), custom: false, signature: own, at, cache: null, bag: null },
  ]
}

function readResult(part: Fields, at: string, { asked }: ReadState): readonly Part[] {
  const result = fieldsIn(part, 'functionResponse', `${at}.`) ?? {}
  const place = `${at}.functionResponse.`
  const name = neededText(result, 'name', place)
  const given = textIn(result, 'id', place) || null
  const id = asked.take(given, name)?.id ?? given
  if (id === null) throw unreadable(`${at}.functionResponse.name`, 'the name of a function that the turn before it calls')
  const response = fieldsIn(result, 'response', place) ?? {}
  const media = listIn(result, 'parts', place).flatMap((one, at_) =>
    readPart(camelCased(fieldsAt(one, `${place}parts[${at_}]`)), `${place}parts[${at_}]`, { asked: new AskedCalls() }),
  )
  const { text, isError } = readResponse(response)
  const parts = text === '' ? media : [textPart(text, at), ...media]
  return [{ kind: 'tool-result', callId: id, name, parts, isError, at, cache: null, bag: null }]
}

/** Google's convention: `output` holds the result of a function, `error` the reason of its failure; any other object is its result. */
function readResponse(response: Fields): { readonly text: string; readonly isError: boolean } {
  const names = Object.keys(response)
  const [only] = names
  if (names.length === 0) return { text: '', isError: false }
  if (names.length > 1 || (only !== 'output' && only !== 'error')) return { text: exactJson(response), isError: false }
  const value = response[only]
  return { text: typeof value === 'string' ? value : exactJson(value), isError: only === 'error' }
}

function readOpaque(part: Fields, at: string): readonly Part[] {
  const type = kinds.find((name) => part[name] !== undefined && part[name] !== null) ?? 'part'
  return [{ kind: 'opaque', dialect: 'google', type, raw: part, at, cache: null, bag: null }]
}
