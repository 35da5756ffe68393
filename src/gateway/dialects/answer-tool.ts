import type { Memory } from './codec.ts'
import type { FunctionTool, NeutralRequest, OutputFormat, ToolChoice } from './neutral/request.ts'

/** A request to a model that no schema holds: a tool whose arguments are the answer stands among those of the caller. */
export interface AnswerToolRequest {
  readonly request: NeutralRequest
  /** Words that describe the tool to the model, where it cannot be made to call it; null: they are not needed. */
  readonly instructions: string | null
  readonly memory: Memory['schemaTool']
}

/**
 * Returns a request whose answer is asked for by a tool, beside which the caller's own may be called as far as the caller lets them: all, some or
 * none. A caller that demands a call of one of them asks for no answer, so that there is none to hold to the schema. A model that thinks cannot be
 * made to call.
 */
export function withAnswerTool(request: NeutralRequest, thinks: boolean): AnswerToolRequest {
  const { tools, format, toolChoice } = request
  if (format?.kind !== 'schema' || (toolChoice?.mode === 'required' && tools.length > 0))
    return { request, instructions: null, memory: null }
  const name = freeName(tools.map((tool) => (tool.kind === 'vendor' ? tool.type : tool.name)))
  const wrapped = format.schema['type'] !== 'object'
  return {
    request: {
      ...request,
      tools: [...tools, answerTool(name, format, wrapped)],
      toolChoice: { mode: thinks ? 'auto' : 'required', names: callable(request, name) },
    },
    instructions: thinks ? `Give your final answer by calling the tool ${name}.` : null,
    memory: { name, wrapped },
  }
}

/** Returns the names of the tools that may be called; null: every one. */
function callable({ tools, toolChoice }: NeutralRequest, answer: string): ToolChoice['names'] {
  if (tools.length === 0 || toolChoice?.mode === 'none') return [answer]
  return toolChoice?.names === undefined || toolChoice.names === null ? null : [...toolChoice.names, answer]
}

const answerTool = (name: string, { schema, description }: OutputFormat & { readonly kind: 'schema' }, wrapped: boolean): FunctionTool => ({
  kind: 'function',
  name,
  description: description ?? 'Gives the final answer. Call it once, with the whole answer.',
  parameters: wrapped ? { type: 'object', properties: { value: schema }, required: ['value'] } : schema,
  strict: null,
  cache: null,
  at: 'response_format',
  bag: null,
})

function freeName(taken: readonly string[]): string {
  let name = 'final_answer'
  while (taken.includes(name)) name += '_'
  return name
}
