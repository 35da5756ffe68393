import type { Fields } from '../../lib/json/fields.ts'
import type { Memory } from './codec.ts'
import type { Loss } from './neutral/loss.ts'
import type { FunctionTool, NeutralRequest, Tool, Turn } from './neutral/request.ts'
import { hashedId } from './tool-calls.ts'

/** How a dialect names tools. */
export interface ToolNaming {
  readonly legal: RegExp
  readonly longest: number
}

/** The tools of a request for a provider that knows functions alone. */
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
 * Returns the tools of a request as functions with names that the provider takes. Tools for a plain text become functions with one
 * parameter; grammars for it, and tools that other vendors bring, are refused.
 */
export function functionTools({ tools, turns }: NeutralRequest, naming: ToolNaming, loss: Loss): FunctionTools {
  if (tools.length === 0 && !turns.some(callsTools)) return noTools
  const names = new Map<string, string>()
  const custom = new Set<string>()
  const nameOf = (name: string): string => {
    const legal = legalName(name, naming)
    if (legal !== name) names.set(legal, name)
    return legal
  }
  const functions = tools.map((tool) => {
    if (tool.kind === 'custom') custom.add(tool.name)
    const found = asFunction(tool, loss)
    return { ...found, name: nameOf(found.name) }
  })
  for (const { parts } of turns) for (const part of parts) if (part.kind === 'tool-call' && part.custom) custom.add(part.name)
  return { tools: functions, nameOf, memory: { toolNames: names, customTools: custom.size === 0 ? null : custom } }
}

const callsTools = ({ parts }: Turn): boolean => parts.some(({ kind }) => kind === 'tool-call')

const noTools: FunctionTools = { tools: [], nameOf: (name) => name, memory: { toolNames: null, customTools: null } }

function asFunction(tool: Tool, loss: Loss): FunctionTool {
  if (tool.kind === 'function') return tool
  if (tool.kind === 'vendor')
    return loss.refuseAt(`${tool.at}.type`, `names a tool (${tool.type.slice(0, 60)}) that only its own vendor has`)
  if (tool.format !== null) return loss.refuseAt(`${tool.at}.custom.format`, 'is a grammar, which this provider cannot hold a tool to')
  const { name, description, at } = tool
  return { kind: 'function', name, description, parameters: textParameter, strict: null, cache: null, at, bag: null }
}

/** Names the choice among tools of a request that has none, if it asks for more than what the model would do. */
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
