import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { spendPartBag } from '../leftovers.ts'
import type { FilePart, ImagePart, Part, ToolCallPart, ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { namesOfCalls } from '../neutral/turns.ts'
import { argumentsObject } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'
import { inOrderOfCalls } from '../neutral/calls-and-results.ts'

interface WriteContext extends EncodeContext {
  readonly nameOf: (name: string) => string
}

/** The text of one message, and the images beside it. */
interface Content {
  readonly texts: string[]
  readonly images: string[]
}

/** Writes the conversation. A later instruction stays in its place; results have no ids, and stand in the order of their calls. */
export function writeMessages({ system, turns }: NeutralRequest, context: WriteContext): readonly Fields[] {
  const messages: Fields[] = []
  const names = namesOfCalls(turns)
  if (system.length > 0) messages.push({ role: 'system', content: instructions(system, context) })
  let caller: Pick<Turn, 'parts'> = { parts: [] }
  for (const turn of turns) {
    if (turn.role === 'system') messages.push({ role: 'system', content: instructions(turn.parts, context) })
    else if (turn.role === 'user') messages.push(writeMessage('user', turn.parts, context))
    else if (turn.role === 'assistant') {
      addAssistant(messages, turn, context)
      caller = turn
    } else for (const part of inOrderOfCalls(resultsIn(turn, context), caller)) messages.push(writeResult(part, names, context))
  }
  return messages
}

const instructions = (parts: readonly Part[], context: WriteContext): string =>
  parts
    .map((part) => {
      noteCache(part, context)
      return part.kind === 'text' ? part.text : context.loss.refuseAt(part.at, 'is no text, and instructions are texts there')
    })
    .join('\n\n')

const noteCache = ({ cache }: Part, { loss }: WriteContext): void => {
  if (cache !== null) loss.dropAt('cache_control')
}

function writeMessage(role: 'user' | 'tool', parts: readonly Part[], context: WriteContext): Fields {
  const content: Content = { texts: [], images: [] }
  for (const part of parts) addPart(part, content, context)
  const { texts, images } = content
  return { role, content: texts.join('\n\n'), ...(images.length > 0 && { images }) }
}

function addPart(part: Part, { texts, images }: Content, context: WriteContext): void {
  const { loss } = context
  noteCache(part, context)
  spendPartBag(part, 'ollama', loss)
  if (part.kind === 'text' || part.kind === 'refusal') texts.push(part.text)
  else if (part.kind === 'image') images.push(writeImage(part, context))
  else if (part.kind === 'file') texts.push(writeFile(part, context))
  else if (part.kind === 'opaque') loss.dropAt(part.at)
  else loss.refuseAt(part.at, `is ${part.kind}, which this provider does not take`)
}

/** An image is its bytes alone: the type is seen in them. */
function writeImage({ source, detail, at }: ImagePart, { loss }: WriteContext): string {
  if (detail !== null && detail !== 'auto') loss.dropAt(`${at}.detail`)
  if (source.kind === 'base64') return source.data
  return loss.refuseAt(
    at,
    source.kind === 'url' ? 'must be a data URL: this provider opens no addresses' : 'names a file that only its own vendor has',
  )
}

function writeFile({ source, name, at }: FilePart, { loss }: WriteContext): string {
  const text =
    source.kind === 'text'
      ? source.text
      : source.kind === 'base64' && source.mediaType.startsWith('text/')
        ? Buffer.from(source.data, 'base64').toString('utf8')
        : loss.refuseAt(at, 'is no text, and documents are texts there')
  return name === null ? text : `${name}\n\n${text}`
}

/** Thoughts go back as they came from here, unsigned. Reasoning that another vendor signed means nothing to this model. */
function addAssistant(messages: Fields[], { parts }: Turn, context: WriteContext): void {
  const said: MessageParts = { texts: [], thoughts: [], calls: [] }
  for (const part of parts) addSaid(part, said, context)
  const { texts, thoughts, calls } = said
  if (texts.length + thoughts.length + calls.length === 0) return
  messages.push({
    role: 'assistant',
    content: texts.join(''),
    ...(thoughts.length > 0 && { thinking: thoughts.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  })
}

interface MessageParts {
  readonly texts: string[]
  readonly thoughts: string[]
  readonly calls: Fields[]
}

function addSaid(part: Part, { texts, thoughts, calls }: MessageParts, context: WriteContext): void {
  const { loss } = context
  noteCache(part, context)
  spendPartBag(part, 'ollama', loss)
  if (part.kind === 'tool-call') calls.push(writeCall(part, context))
  else if (part.kind === 'text' || part.kind === 'refusal') texts.push(part.text)
  else if (part.kind === 'reasoning' && part.signature === null) thoughts.push(part.text)
  else if (part.kind === 'reasoning' || part.kind === 'opaque') loss.dropAt(part.at)
  else loss.refuseAt(part.at, 'cannot be said by an assistant there')
}

const writeCall = (call: ToolCallPart, { loss, nameOf }: WriteContext): Fields => ({
  function: { name: nameOf(call.name), arguments: argumentsObject(callArguments(call), call.at, loss) },
})

const resultsIn = ({ parts }: Turn, { loss }: WriteContext): readonly ToolResultPart[] =>
  parts.map((part) => (part.kind === 'tool-result' ? part : loss.refuseAt(part.at, 'stands among the results of tools')))

function writeResult(part: ToolResultPart, names: ReadonlyMap<string, string>, context: WriteContext): Fields {
  const name = part.name ?? names.get(part.callId)
  if (name === undefined) return context.loss.refuseAt(part.at, 'answers a call that is not in the conversation')
  noteCache(part, context)
  return { ...writeMessage('tool', part.parts, context), tool_name: context.nameOf(name) }
}
