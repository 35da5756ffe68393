import type { Fields } from '../../../lib/json/fields.ts'
import { type AnswerToolRequest, withAnswerTool } from '../answer-tool.ts'
import type { DialectId } from '../dialect.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { heldSchema } from './held-schema.ts'
import type { ModelFacts } from './model-facts.ts'

/** How an answer of a form is asked for. */
export interface FormatEmulation extends AnswerToolRequest {
  /** The model's own way; null: it has none, or none is asked for. */
  readonly native: Fields | null
  readonly unwraps: boolean
}

/** Returns the place of the schema of an answer in the caller's body. */
export const schemaName = (dialect: DialectId, loss: Loss): string =>
  `${loss.nameOf('format')}${dialect === 'openai-chat' ? '.json_schema.schema' : dialect === 'openai-responses' ? '.schema' : ''}`

interface FormatContext {
  readonly facts: ModelFacts
  readonly isThinking: boolean
  readonly loss: Loss
}

/** Returns how this model is asked for JSON: by a schema where it supports them, else by a tool that it must call. */
export function emulateFormat(request: NeutralRequest, { facts, isThinking, loss }: FormatContext): FormatEmulation {
  const { format } = request
  const nothing: FormatEmulation = { request, native: null, instructions: null, memory: null, unwraps: false }
  if (format === null) return nothing
  if (format.kind === 'json') {
    loss.drop('format', 'is asked for in words')
    return { ...nothing, instructions: 'Answer with one JSON object only, without any other text.', unwraps: true }
  }
  const held = facts.schemas ? heldSchema(format.schema, { at: schemaName(request.dialect, loss), loss }) : null
  if (held !== null) return { ...nothing, native: { type: 'json_schema', schema: held } }
  return { ...nothing, ...withAnswerTool(request, isThinking) }
}
