import type { Fields } from '../../../lib/json/fields.ts'
import type { Memory } from '../codec.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest, OutputFormat } from '../neutral/request.ts'
import type { ModelFacts } from './model-facts.ts'

/** How an answer of a form is asked for. */
export interface Emulated {
  /** The model's own way; null: it has none, or none is asked for. */
  readonly native: Fields | null
  /** A tool whose arguments are the answer. */
  readonly tool: Fields | null
  readonly choice: Fields | null
  readonly instructions: string | null
  readonly memory: Memory['schemaTool']
  readonly unwraps: boolean
}

const nothing: Emulated = { native: null, tool: null, choice: null, instructions: null, memory: null, unwraps: false }

interface FormatContext {
  readonly facts: ModelFacts
  readonly isThinking: boolean
  readonly loss: Loss
}

/** Returns how this model is asked for JSON: by a schema where it knows them, else by a tool that it must call. */
export function emulateFormat(request: NeutralRequest, { facts, isThinking, loss }: FormatContext): Emulated {
  const { format } = request
  if (format === null) return nothing
  if (format.kind === 'json') {
    loss.drop('format', 'is asked for in words')
    return { ...nothing, instructions: 'Answer with one JSON object only, without any other text.', unwraps: true }
  }
  if (facts.schemas) return { ...nothing, native: { type: 'json_schema', schema: format.schema } }
  return byTool(request, format, isThinking)
}

function byTool({ tools }: NeutralRequest, format: OutputFormat & { readonly kind: 'schema' }, isThinking: boolean): Emulated {
  const wrapped = format.schema['type'] !== 'object'
  const name = freeName(tools.map((tool) => (tool.kind === 'vendor' ? tool.type : tool.name)))
  const schema = wrapped ? { type: 'object', properties: { value: format.schema }, required: ['value'] } : format.schema
  const choice = isThinking
    ? { type: 'auto' }
    : tools.length > 0
      ? { type: 'any' }
      : { type: 'tool', name, disable_parallel_tool_use: true }
  return {
    native: null,
    tool: { name, description: format.description ?? 'Gives the final answer. Call it once, with the whole answer.', input_schema: schema },
    choice,
    instructions: isThinking ? `Give your final answer by calling the tool ${name}.` : null,
    memory: { name, wrapped },
    unwraps: false,
  }
}

function freeName(taken: readonly string[]): string {
  let name = 'final_answer'
  while (taken.includes(name)) name += '_'
  return name
}
