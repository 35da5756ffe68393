import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import type { DialectId } from '../dialect.ts'
import { isMarked, type Part, type ReasoningPart, type ToolCallPart, type ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { withSignedCalls } from '../neutral/signed-calls.ts'
import { namesOfCalls } from '../neutral/turns.ts'
import { argumentsObject } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'
import { writeMedia } from './media-encode.ts'
import { modelFacts } from './model-facts.ts'
import { inOrderOfCalls } from '../neutral/calls-and-results.ts'

/** How a conversation is written. */
export interface WriteContext extends EncodeContext {
  /** The caller's dialect. */
  readonly dialect: DialectId
  readonly nameOf: (name: string) => string
}

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: Fields[]
  /** Results of functions stand alone. */
  readonly isResults: boolean
}

const placeholder: Fields = { text: '(empty)' }

/** Writes instructions, with those that stand in the midst of the conversation at their end. */
export function writeSystem({ system, turns }: NeutralRequest, { loss }: EncodeContext): Fields | null {
  const later = turns.filter(({ role }) => role === 'system')
  for (const { at } of later) loss.dropAt(at, 'was moved to the beginning')
  const parts = [...system, ...later.flatMap((turn) => turn.parts)].flatMap((part) => {
    if (part.kind !== 'text') return loss.refuseAt(part.at, 'is no text, and instructions are texts there')
    return part.text === '' ? [] : [{ text: part.text }]
  })
  return parts.length === 0 ? null : { parts }
}

/** Writes the conversation: it begins with the user, and neighbours of one role are one content. */
export function writeContents({ turns }: NeutralRequest, context: WriteContext): readonly Fields[] {
  const names = namesOfCalls(turns)
  const current = turns.findLastIndex(({ role }) => role === 'user')
  const contents: Content[] = []
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'system') continue
    const parts =
      turn.role === 'tool'
        ? writeResults(turn, { turns, index, names }, context)
        : withSignedCalls(turn.parts).flatMap((part) => writePart(part, context))
    if (turn.role === 'assistant' && index > current) signCalls(parts, turn, context)
    add(contents, { role: turn.role === 'assistant' ? 'model' : 'user', parts, isResults: turn.role === 'tool' })
  }
  if (contents[0]?.role !== 'user') contents.unshift({ role: 'user', parts: [placeholder], isResults: false })
  return contents.map(({ role, parts }) => ({ role, parts }))
}

function add(contents: Content[], content: Content): void {
  const last = contents.at(-1)
  if (last?.role === content.role && last.isResults === content.isResults) last.parts.push(...content.parts)
  else if (content.parts.length > 0) contents.push(content)
  else if (content.role === 'user') contents.push({ ...content, parts: [placeholder] })
}

/** A mark that Google documents for calls whose signature is not known, since they come from elsewhere. */
export const unsigned = 'skip_thought_signature_validator'

/** The first call of a step in the current turn must be signed, else newer models refuse the request. */
function signCalls(written: Fields[], { at }: Turn, { model, loss }: WriteContext): void {
  if (!modelFacts(model).wantsSignatures) return
  const first = written.findIndex((part) => 'functionCall' in part)
  const part = written[first]
  if (part === undefined || 'thoughtSignature' in part) return
  written[first] = { ...part, thoughtSignature: unsigned }
  loss.note(`${at} (the reasoning before the call)`)
}

type Writers = {
  readonly [Kind in Part['kind']]?: (part: Extract<Part, { readonly kind: Kind }>, context: WriteContext) => readonly Fields[]
}

const writers: Writers = {
  text: ({ text }) => (text === '' ? [] : [{ text }]),
  refusal: ({ text }) => (text === '' ? [] : [{ text }]),
  image: (part, context) => [writeMedia(part.source, part, context)],
  audio: (part, context) => [writeMedia(part.source, part, context)],
  video: (part, context) => [writeMedia(part.source, part, context)],
  file: (part, context) => [writeMedia(part.source, part, context)],
  'tool-call': (part, context) => [writeCall(part, context)],
  reasoning: writeReasoning,
  opaque: ({ dialect, raw, at }, { loss }) => {
    if (dialect === 'google') return [raw]
    loss.dropAt(at)
    return []
  },
}

function writePart<Kind extends Part['kind']>(part: Extract<Part, { readonly kind: Kind }>, context: WriteContext): readonly Fields[] {
  const write: ((part: Extract<Part, { readonly kind: Kind }>, context: WriteContext) => readonly Fields[]) | undefined = writers[part.kind]
  if (write === undefined) return context.loss.refuseAt(part.at, `is ${part.kind}, which has no place there`)
  if (part.cache !== null) context.loss.dropAt('cache_control')
  return write(part, context)
}

/** Only parts that Google itself signed go back to it. */
function writeReasoning({ text, signature, at }: ReasoningPart, { loss }: WriteContext): readonly Fields[] {
  if (signature?.origin === 'google') return [{ text, ...(text !== '' && { thought: true }), thoughtSignature: signature.value }]
  loss.dropAt(at, 'is reasoning that another model signed, or none')
  return []
}

const writeCall = (part: ToolCallPart, { loss, nameOf, traits }: WriteContext): Fields => ({
  functionCall: compact({
    id: traits.host === 'vertex' ? null : part.id,
    name: nameOf(part.name),
    args: argumentsObject(callArguments(part), part.at, loss),
  }),
  ...(part.signature?.origin === 'google' && { thoughtSignature: part.signature.value }),
})

interface CallLookup {
  readonly turns: readonly Turn[]
  readonly index: number
  readonly names: ReadonlyMap<string, string>
}

/** Writes the results of one round in the order of its calls: without ids they are told apart by it. */
function writeResults(turn: Turn, { turns, index, names }: CallLookup, context: WriteContext): Fields[] {
  const results = turn.parts.filter((part) => part.kind === 'tool-result')
  const sorted = inOrderOfCalls(results, turns[index - 1] ?? { parts: [] })
  const beside: Fields[] = []
  const written = sorted.map((result) => writeResult(result, { names, beside }, context))
  return [...written, ...beside]
}

interface ResultPlaces {
  readonly names: ReadonlyMap<string, string>
  /** The images that older models want beside the results. */
  readonly beside: Fields[]
}

function writeResult(result: ToolResultPart, { names, beside }: ResultPlaces, context: WriteContext): Fields {
  const { callId, at, parts, isError } = result
  const name = names.get(callId) ?? result.name
  if (name === null) return context.loss.refuseAt(at, `answers the call ${callId.slice(0, 80)}, which no turn before it makes`)
  if (isMarked(result)) context.loss.dropAt('cache_control')
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const media = parts.filter((part) => part.kind !== 'text').flatMap((part) => writePart(part, context))
  const within = modelFacts(context.model).mediaInResults
  if (!within) beside.push(...media)
  return {
    functionResponse: compact({
      id: context.traits.host === 'vertex' ? null : callId,
      name: context.nameOf(name),
      response: writeResponse(texts.join('\n'), isError),
      parts: within && media.length > 0 ? media : null,
    }),
  }
}

/** A result is an object there. JSON with references in it is sent as a text: Google would follow them. */
function writeResponse(text: string, isError: boolean): Fields {
  if (isError) return { error: text }
  if (!text.trimStart().startsWith('{') || /"\$(?:ref|defs)"/.test(text)) return { output: text }
  const parsed = exactOrUndefined(text)
  if (!isFields(parsed)) return { output: text }
  const names = Object.keys(parsed)
  return names.length === 1 && (names[0] === 'output' || names[0] === 'error') ? { output: text } : parsed
}
