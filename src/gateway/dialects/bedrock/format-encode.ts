import type { Fields } from '../../../lib/json/fields.ts'
import { type AnswerToolRequest, withAnswerTool } from '../answer-tool.ts'
import { schemaName } from '../anthropic/format-encode.ts'
import { heldSchema } from '../anthropic/held-schema.ts'
import { modelFacts } from '../anthropic/model-facts.ts'
import { compact } from '../compact.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest, OutputFormat } from '../neutral/request.ts'
import type { Family } from './model-facts.ts'

/** How an answer of a form is asked for. */
export interface Format extends AnswerToolRequest {
  /** Converse's own way; null: the model has none, or none is asked for. */
  readonly native: Fields | null
  readonly unwraps: boolean
}

/** Facts that decide how a form is asked for. */
export interface FormatContext {
  readonly family: Family
  readonly model: string
  readonly thinks: boolean
  readonly loss: Loss
}

/** Returns how this model is asked for JSON: by a schema where it supports them, else by a tool that it must call. */
export function writeFormat(request: NeutralRequest, { family, model, thinks, loss }: FormatContext): Format {
  const { format } = request
  const nothing: Format = { request, native: null, instructions: null, memory: null, unwraps: false }
  if (format === null) return nothing
  if (format.kind === 'json') {
    loss.drop('format', 'is asked for in words')
    return { ...nothing, instructions: 'Answer with one JSON object only, without any other text.', unwraps: true }
  }
  const { schema } = format
  const holds = family === 'anthropic' && modelFacts(model).schemas
  const held = holds ? heldSchema(schema, { at: schemaName(request.dialect, loss), loss }) : null
  if (held !== null) return { ...nothing, native: nativeFormat({ ...format, schema: held }) }
  return { ...nothing, ...withAnswerTool(request, thinks) }
}

const nativeFormat = ({ schema, name, description }: OutputFormat & { readonly kind: 'schema' }): Fields => ({
  textFormat: {
    type: 'json_schema',
    structure: { jsonSchema: compact({ schema: JSON.stringify(schema), name, description }) },
  },
})
