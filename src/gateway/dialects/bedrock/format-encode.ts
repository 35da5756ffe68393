import type { Fields } from '../../../lib/json/fields.ts'
import { modelFacts } from '../anthropic/model-facts.ts'
import type { Memory } from '../codec.ts'
import { compact } from '../compact.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest, OutputFormat } from '../neutral/request.ts'
import type { Family } from './model-facts.ts'

/** How an answer of a form is asked for. */
export interface Format {
  /** Converse's own way; null: the model has none, or none is asked for. */
  readonly native: Fields | null
  /** A tool whose arguments are the answer. */
  readonly tool: { readonly name: string; readonly description: string; readonly schema: Fields } | null
  readonly instructions: string | null
  readonly memory: Memory['schemaTool']
  readonly unwraps: boolean
}

const nothing: Format = { native: null, tool: null, instructions: null, memory: null, unwraps: false }

/** Facts that decide how a form is asked for. */
export interface FormatContext {
  readonly family: Family
  readonly model: string
  readonly thinks: boolean
  readonly loss: Loss
}

/** Returns how this model is asked for JSON: by a schema where it knows them, else by a tool that it must call. */
export function writeFormat(request: NeutralRequest, { family, model, thinks, loss }: FormatContext): Format {
  const { format } = request
  if (format === null) return nothing
  if (format.kind === 'json') {
    loss.drop('format', 'is asked for in words')
    return { ...nothing, instructions: 'Answer with one JSON object only, without any other text.', unwraps: true }
  }
  if (family === 'anthropic' && modelFacts(model).schemas) return { ...nothing, native: nativeFormat(format) }
  return byTool(request, format, thinks)
}

const nativeFormat = ({ schema, name, description }: OutputFormat & { readonly kind: 'schema' }): Fields => ({
  textFormat: {
    type: 'json_schema',
    structure: { jsonSchema: compact({ schema: JSON.stringify(schema), name, description }) },
  },
})

function byTool({ tools }: NeutralRequest, format: OutputFormat & { readonly kind: 'schema' }, thinks: boolean): Format {
  const wrapped = format.schema['type'] !== 'object'
  const taken = new Set(tools.map((tool) => (tool.kind === 'vendor' ? tool.type : tool.name)))
  let name = 'final_answer'
  while (taken.has(name)) name += '_'
  const schema = wrapped ? { type: 'object', properties: { value: format.schema }, required: ['value'] } : format.schema
  const description = format.description ?? 'Gives the final answer. Call it once, with the whole answer.'
  return {
    ...nothing,
    tool: { name, description, schema },
    instructions: thinks ? `Give your final answer by calling the tool ${name}.` : null,
    memory: { name, wrapped },
  }
}
