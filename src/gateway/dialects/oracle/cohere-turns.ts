import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendPartBag } from '../leftovers.ts'
import { type FilePart, isMarked, type Part, type ToolCallPart, type ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { argumentsObject } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'

interface WriteContext extends EncodeContext {
  readonly nameOf: (name: string) => string
}

/** The texts that are given as documents beside the conversation. */
type Documents = Fields[]

/** Writes the conversation: the last message and the last results stand apart from the earlier ones. */
export function writeConversation({ system, turns }: NeutralRequest, context: WriteContext): Fields {
  const documents: Documents = []
  const calls = new Map(
    turns.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'tool-call' ? [[part.id, writeCall(part, context)] as const] : [])),
    ),
  )
  const write = (turn: Turn): Fields => writeTurn(turn, { ...context, documents, calls })
  const last = turns.at(-1)
  const isResult = last?.role === 'tool'
  const isAsked = last?.role === 'user'
  const before = isResult || isAsked ? turns.slice(0, -1) : turns
  const chatHistory = before.map(write).filter((one) => one['message'] !== '' || 'toolCalls' in one || 'toolResults' in one)
  return compact({
    preambleOverride: system.length === 0 ? null : textOf(system, { ...context, documents }),
    chatHistory: chatHistory.length === 0 ? null : chatHistory,
    message: isAsked ? textOf(last.parts, { ...context, documents }) : '',
    toolResults: isResult ? write(last)['toolResults'] : null,
    documents: documents.length === 0 ? null : documents,
  })
}

interface TurnContext extends WriteContext {
  readonly documents: Documents
  readonly calls: ReadonlyMap<string, Fields>
}

function writeTurn({ role, parts }: Turn, context: TurnContext): Fields {
  if (parts.some(isMarked)) context.loss.dropAt('cache_control')
  if (role === 'tool') return { role: 'TOOL', toolResults: parts.map((part) => writeResult(part, context)) }
  if (role !== 'assistant') return { role: role === 'system' ? 'SYSTEM' : 'USER', message: textOf(parts, context) }
  const calls = parts.flatMap((part) => (part.kind === 'tool-call' ? [writeCall(part, context)] : []))
  const said = parts.filter(({ kind }) => kind !== 'tool-call')
  return { role: 'CHATBOT', message: saidOf(said, context), ...(calls.length > 0 && { toolCalls: calls }) }
}

const writeCall = (call: ToolCallPart, { loss, nameOf }: WriteContext): Fields => ({
  name: nameOf(call.name),
  parameters: argumentsObject(callArguments(call), call.at, loss),
})

/** A result repeats its call, since calls have no ids. */
function writeResult(part: Part, context: TurnContext): Fields {
  if (part.kind !== 'tool-result') return context.loss.refuseAt(part.at, 'stands among the results of tools')
  const call = context.calls.get(part.callId) ?? context.loss.refuseAt(part.at, 'answers a call that is not in the conversation')
  return { call, outputs: [{ output: resultText(part, context) }] }
}

function resultText({ parts }: ToolResultPart, { loss }: TurnContext): string {
  const texts = parts.map((part) => {
    if (part.kind === 'text') return part.text
    loss.dropAt(part.at, 'is no text, and results of tools are texts there')
    return `(A result of the kind ${part.kind} cannot be shown.)`
  })
  return texts.join('\n')
}

/** Thoughts do not go back. */
function saidOf(parts: readonly Part[], { loss }: TurnContext): string {
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text' || part.kind === 'refusal') return part.text
    if (part.kind === 'reasoning' || part.kind === 'opaque') loss.dropAt(part.at)
    else loss.refuseAt(part.at, 'cannot be said by an assistant there')
    return []
  })
  return texts.join('')
}

function textOf(parts: readonly Part[], context: WriteContext & { readonly documents: Documents }): string {
  const { loss } = context
  const texts = parts.flatMap((part) => {
    if (part.cache !== null) loss.dropAt('cache_control')
    spendPartBag(part, 'oracle', loss)
    if (part.kind === 'text' || part.kind === 'refusal') return part.text
    if (part.kind === 'file') context.documents.push(writeDocument(part, context))
    else if (part.kind === 'opaque') loss.dropAt(part.at)
    else loss.refuseAt(part.at, `is ${part.kind}, which this model does not take`)
    return []
  })
  return texts.join('\n\n')
}

function writeDocument({ source, name, at }: FilePart, { loss, documents }: WriteContext & { readonly documents: Documents }): Fields {
  const text =
    source.kind === 'text'
      ? source.text
      : source.kind === 'base64' && source.mediaType.startsWith('text/')
        ? Buffer.from(source.data, 'base64').toString('utf8')
        : loss.refuseAt(at, 'is no text, and documents are texts there')
  return compact({ id: `document-${documents.length}`, title: name, text })
}
