import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Memory } from './codec.ts'
import type { DialectId } from './dialect.ts'
import type { Loss } from './neutral/loss.ts'
import type { FunctionTool, NeutralRequest, Tool, Turn } from './neutral/request.ts'
import { hashedId } from './tool-calls.ts'

/** How a dialect names tools. */
export interface ToolNaming {
  readonly legal: RegExp
  readonly longest: number
}

/** The tools of a request for a provider that supports functions alone. */
export interface FunctionTools {
  readonly tools: readonly FunctionTool[]
  /** Returns the provider's name of a tool. */
  readonly nameOf: (name: string) => string
  readonly memory: Pick<Memory, 'toolNames' | 'customTools'>
}

/** The parameter of a function that stands for a tool which takes a plain text. */
const textParameter: Fields = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/**
 * Returns the tools of a request as functions with names that the provider takes. Tools for a plain text become functions with one parameter, whose
 * description holds the grammar for it; tools of other vendors are refused.
 */
export function functionTools({ dialect, tools, turns }: NeutralRequest, naming: ToolNaming, loss: Loss): FunctionTools {
  if (tools.length === 0 && !turns.some(callsTools)) return noTools
  const names = new Map<string, string>()
  const custom = new Set<string>()
  // One name, which may be long, is asked for again for each call and its result.
  const legalNames = new Map<string, string>()
  const nameOf = (name: string): string => {
    const known = legalNames.get(name)
    if (known !== undefined) return known
    const legal = legalName(name, naming)
    legalNames.set(name, legal)
    if (legal !== name) names.set(legal, name)
    return legal
  }
  const functions = tools.map((tool) => {
    if (tool.kind === 'custom') custom.add(tool.name)
    const found = asFunction(tool, dialect, loss)
    return { ...found, name: nameOf(found.name) }
  })
  for (const { parts } of turns) for (const part of parts) if (part.kind === 'tool-call' && part.custom) custom.add(part.name)
  return { tools: functions, nameOf, memory: { toolNames: names, customTools: custom.size === 0 ? null : custom } }
}

/** Returns the tools with some of the provider's names. */
export function toolsNamed(tools: readonly FunctionTool[], names: readonly string[]): readonly FunctionTool[] {
  const named = new Set(names)
  return tools.filter(({ name }) => named.has(name))
}

const callsTools = ({ parts }: Turn): boolean => parts.some(({ kind }) => kind === 'tool-call')

const noTools: FunctionTools = { tools: [], nameOf: (name) => name, memory: { toolNames: null, customTools: null } }

function asFunction(tool: Tool, dialect: DialectId, loss: Loss): FunctionTool {
  if (tool.kind === 'function') return tool
  if (tool.kind === 'vendor')
    return loss.refuseAt(`${tool.at}.type`, `names a tool (${tool.type.slice(0, 60)}) that only its own vendor has`)
  const { name, at, format } = tool
  const description = format === null ? tool.description : withGrammar(tool.description, format)
  const place = dialect === 'openai-chat' ? `${at}.custom.format` : `${at}.format`
  if (format !== null) loss.dropAt(place, 'is a grammar, which this provider only gets as a description')
  return { kind: 'function', name, description, parameters: textParameter, strict: null, cache: null, at, bag: null }
}

/** Returns a description with the grammar for the text of a tool, to which no provider but OpenAI holds its models. */
function withGrammar(description: string | null, format: Fields): string {
  const { syntax, definition } = isFields(format['grammar']) ? format['grammar'] : format
  const told =
    typeof definition === 'string'
      ? `The text of \`input\` must match this grammar${typeof syntax === 'string' ? ` (${syntax})` : ''}:\n${definition}`
      : `The text of \`input\` must have this format: ${JSON.stringify(format)}`
  return description === null || description === '' ? told : `${description}\n\n${told}`
}

/** Names the choice among tools of a request that has none, if it asks for more than the model's default. */
export function dropChoice({ toolChoice }: NeutralRequest, loss: Loss): void {
  if (toolChoice === null || toolChoice.mode === 'none' || (toolChoice.mode === 'auto' && toolChoice.names === null)) return
  loss.drop('toolChoice', 'names tools, and the request has none')
}

/** Returns the arguments of a call as its provider takes them: a plain text becomes the one parameter of its function. */
export const callArguments = ({ custom, arguments: text }: { readonly custom: boolean; readonly arguments: string }): string =>
  custom ? JSON.stringify({ input: text }) : text

function legalName(name: string, { legal, longest }: ToolNaming): string {
  if (legal.test(name) && name.length <= longest) return name
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const started = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`
  return `${started.slice(0, longest - 9)}_${hashedId(name, 8)}`
}
