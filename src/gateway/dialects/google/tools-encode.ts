import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { compact } from '../compact.ts'
import type { Loss } from '../neutral/loss.ts'
import type { FunctionTool, NeutralRequest } from '../neutral/request.ts'
import { dropChoice, type FunctionTools } from '../tools.ts'
import type { SchemaSize } from '../written-out.ts'
import type { ModelFacts } from './model-facts.ts'
import { subsetSchema, wholeSchema } from './schema-encode.ts'

/** The context in which tools are written. */
export interface ToolContext {
  readonly tools: FunctionTools
  readonly facts: ModelFacts
  /** True if the caller wants Google's search on the web. */
  readonly searches: boolean
  readonly size: SchemaSize
  readonly loss: Loss
}

/** Writes functions, and which of them must be called. */
export function writeTools(request: NeutralRequest, context: ToolContext): Fields {
  const { tools, searches } = context
  const declared = tools.tools.map((tool) => writeFunction(tool, context))
  const written = [...(declared.length === 0 ? [] : [{ functionDeclarations: declared }]), ...(searches ? [{ googleSearch: {} }] : [])]
  if (request.parallelTools === false && tools.tools.length > 0) context.loss.drop('parallelTools')
  if (declared.length === 0) {
    dropChoice(request, context.loss)
    return written.length === 0 ? {} : { tools: written }
  }
  const calling = writeChoice(request, context)
  return { tools: written, ...(calling !== null && { toolConfig: { functionCallingConfig: calling } }) }
}

function writeFunction({ name, description, parameters, cache, at }: FunctionTool, { facts, size, loss }: ToolContext): Fields {
  if (cache !== null) loss.dropAt('cache_control')
  const schema = parameters === null || takesNothing(parameters) ? null : parameters
  return compact({
    name,
    description,
    [facts.jsonSchema ? 'parametersJsonSchema' : 'parameters']:
      schema === null
        ? null
        : facts.jsonSchema
          ? wholeSchema(rooted(schema))
          : subsetSchema(rooted(schema), { at: `${at}.parameters`, size, loss }),
  })
}

/** An object without fields is refused by some models. */
function takesNothing({ properties, type, additionalProperties, ...rest }: Fields): boolean {
  const others = Object.keys(rest).filter((name) => name !== '$schema' && name !== 'required' && name !== 'description' && name !== 'title')
  const isEmpty = properties === undefined || (isFields(properties) && Object.keys(properties).length === 0)
  return (
    isEmpty &&
    others.length === 0 &&
    (type === undefined || type === 'object') &&
    additionalProperties !== true &&
    !isFields(additionalProperties)
  )
}

const rooted = (schema: Fields): Fields =>
  'type' in schema || '$ref' in schema || 'anyOf' in schema ? schema : { type: 'object', ...schema }

function writeChoice(request: NeutralRequest, context: ToolContext): Fields | null {
  const { toolChoice } = request
  const names = toolChoice?.names?.map((name) => context.tools.nameOf(name)) ?? null
  if (toolChoice?.mode === 'none') return { mode: 'NONE' }
  return toolChoice?.mode === 'required' ? writeMode('ANY', names) : writeFree(request, names, context)
}

/** Writes that the model may call functions: strictly by their schemas, or only some of them, where it supports that. */
function writeFree(request: NeutralRequest, names: readonly string[] | null, { facts, loss }: ToolContext): Fields | null {
  const strict = isStrict(request)
  if ((names !== null || strict) && facts.jsonSchema) return writeMode('VALIDATED', names)
  if (names !== null) loss.drop('toolChoice', 'names tools, and this model chooses among all')
  if (strict) loss.dropAt('tools.strict', 'is not known to this model')
  return request.toolChoice === null ? null : { mode: 'AUTO' }
}

const isStrict = ({ tools }: NeutralRequest): boolean => tools.some((tool) => tool.kind === 'function' && tool.strict === true)

const writeMode = (mode: string, names: readonly string[] | null): Fields =>
  names === null ? { mode } : { mode, allowedFunctionNames: names }
