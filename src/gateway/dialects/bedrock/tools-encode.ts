import type { Fields } from '../../../lib/json/fields.ts'
import { modelFacts } from '../anthropic/model-facts.ts'
import { strictSchema } from '../anthropic/strict-tools.ts'
import { compact } from '../compact.ts'
import type { Loss } from '../neutral/loss.ts'
import type { CacheMark } from '../neutral/parts.ts'
import type { FunctionTool, NeutralRequest } from '../neutral/request.ts'
import { objectSchema } from '../object-schema.ts'
import { SchemaSize, writtenOut } from '../written-out.ts'
import { dropChoice, type FunctionTools, toolsNamed } from '../tools.ts'
import { type Family, refusesStrict } from './model-facts.ts'

/** The context in which tools are written. */
export interface ToolContext {
  readonly tools: FunctionTools
  readonly model: string
  readonly family: Family
  readonly mark: (cache: CacheMark | null) => Fields | null
  readonly loss: Loss
}

const noParameters: Fields = { type: 'object', properties: {} }

/** Writes tools. They must be there as soon as the conversation holds a call, also when none may be called any more. */
export function writeTools(request: NeutralRequest, context: ToolContext): Fields | null {
  const { loss } = context
  const called = calledNames(request, context)
  if (request.toolChoice?.mode === 'none') {
    if (called.length === 0) return null
    loss.drop('toolChoice', 'cannot be said while the conversation holds calls')
    return { tools: writeAll(context.tools.tools, called, context) }
  }
  const written = writeAll(chosen(request, context), called, context)
  if (written.length > 0) return compact({ tools: written, toolChoice: writeChoice(request, context) })
  dropChoice(request, loss)
  return null
}

/** Writes tools, and those that are no more offered but were called. */
function writeAll(offered: readonly FunctionTool[], called: readonly string[], context: ToolContext): Fields[] {
  const known = new Set(offered.map(({ name }) => name))
  const size = new SchemaSize(context.loss)
  const others = called.filter((name) => !known.has(name)).map((name) => ({ toolSpec: { name, inputSchema: { json: noParameters } } }))
  return [...offered.flatMap((tool) => writeTool(tool, context, size)), ...others]
}

/** Returns the tools that a conversation calls, as far as a mark must stand for them. */
function calledNames({ turns }: NeutralRequest, { tools: { nameOf } }: ToolContext): readonly string[] {
  const names = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [nameOf(part.name)] : [])))
  return [...new Set(names)]
}

/** A choice among some tools is made by leaving the others out. */
function chosen({ toolChoice }: NeutralRequest, { tools, loss }: ToolContext): readonly FunctionTool[] {
  const names = toolChoice?.names?.map((name) => tools.nameOf(name)) ?? null
  if (names === null || (toolChoice?.mode === 'required' && names.length === 1)) return tools.tools
  const offered = toolsNamed(tools.tools, names)
  if (offered.length < tools.tools.length) loss.note('tool_choice (the other tools were left out)')
  return offered
}

function writeTool(tool: FunctionTool, { model, family, mark, loss }: ToolContext, size: SchemaSize): readonly Fields[] {
  const { name, description, strict, cache, at } = tool
  const takesStrict = family === 'anthropic' && modelFacts(model).schemas && !refusesStrict(model)
  if (strict === true && !takesStrict) loss.dropAt(`${at}.strict`, 'is not known to this model')
  const held = strictSchema(tool, { takesStrict, loss })
  const spec = {
    toolSpec: compact({
      name,
      description: description === null || description.trim() === '' ? null : description,
      inputSchema: { json: held ?? (family === 'amazon' ? plainParameters(tool, loss, size) : objectSchema(tool, loss)) },
      strict: held === null ? null : true,
    }),
  }
  const cachePoint = mark(cache)
  return cachePoint === null ? [spec] : [spec, cachePoint]
}

/** docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html: models of Amazon's support no definitions at the top of a schema. */
const plainParameters = (tool: FunctionTool, loss: Loss, size: SchemaSize): Fields =>
  writtenOut(objectSchema(tool, loss), { at: `${tool.at}.parameters`, loss, size })

function writeChoice({ toolChoice }: NeutralRequest, { tools }: ToolContext): Fields | null {
  if (toolChoice === null) return null
  if (toolChoice.mode !== 'required') return { auto: {} }
  const [only, ...others] = toolChoice.names ?? []
  return only !== undefined && others.length === 0 ? { tool: { name: tools.nameOf(only) } } : { any: {} }
}
