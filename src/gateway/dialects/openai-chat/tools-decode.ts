import type { Fields } from '../../../lib/json/fields.ts'
import { isFields } from '../../../lib/json/fields.ts'
import type { Tool, ToolChoice } from '../neutral/request.ts'
import { fieldsAt, fieldsIn, flagIn, listIn, neededText, textIn, unreadable } from '../reading.ts'
import { cacheMarkIn } from './parts-decode.ts'

export const readTools = (tools: readonly unknown[]): readonly Tool[] =>
  tools.map((tool, index) => readTool(fieldsAt(tool, `tools[${index}]`), `tools[${index}]`))

function readTool(tool: Fields, at: string): Tool {
  const type = textIn(tool, 'type', `${at}.`) ?? 'function'
  if (type === 'custom') {
    const about = fieldsIn(tool, 'custom', `${at}.`) ?? {}
    const format = fieldsIn(about, 'format', `${at}.custom.`)
    const grammar = format === null || format['type'] === 'text' ? null : format
    return {
      kind: 'custom',
      name: neededText(about, 'name', `${at}.custom.`),
      description: textIn(about, 'description'),
      format: grammar,
      at,
    }
  }
  if (type !== 'function') return { kind: 'vendor', dialect: 'openai-chat', type, raw: tool, at }
  const about = fieldsIn(tool, 'function', `${at}.`) ?? {}
  return { ...readFunction(about, `${at}.function`), at, cache: cacheMarkIn(tool) ?? cacheMarkIn(about) }
}

export const readFunctions = (functions: readonly unknown[]): readonly Tool[] =>
  functions.map((one, index) => readFunction(fieldsAt(one, `functions[${index}]`), `functions[${index}]`))

const readFunction = (about: Fields, at: string): Extract<Tool, { readonly kind: 'function' }> => ({
  kind: 'function',
  name: neededText(about, 'name', `${at}.`),
  description: textIn(about, 'description', `${at}.`),
  parameters: fieldsIn(about, 'parameters', `${at}.`),
  strict: flagIn(about, 'strict', `${at}.`),
  cache: null,
  at,
  bag: null,
})

const modes: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', none: 'none', required: 'required', any: 'required' }

export function readChoice(choice: unknown): ToolChoice | null {
  if (choice === null || choice === undefined) return null
  if (typeof choice === 'string') {
    const mode = Object.hasOwn(modes, choice) ? modes[choice] : undefined
    if (mode === undefined) throw unreadable('tool_choice', 'auto, none, required, or an object')
    return { mode, names: null }
  }
  if (!isFields(choice)) throw unreadable('tool_choice', 'auto, none, required, or an object')
  if (choice['type'] === 'allowed_tools') return readAllowed(fieldsIn(choice, 'allowed_tools', 'tool_choice.') ?? {})
  const named = choice['type'] === 'custom' ? choice['custom'] : (choice['function'] ?? choice)
  return { mode: 'required', names: [neededText(isFields(named) ? named : {}, 'name', 'tool_choice.function.')] }
}

function readAllowed(allowed: Fields): ToolChoice {
  const at = 'tool_choice.allowed_tools.'
  const names = listIn(allowed, 'tools', at).map((tool, index) => {
    const place = `${at}tools[${index}]`
    const one = fieldsAt(tool, place)
    const named = one['function'] ?? one['custom'] ?? one
    return neededText(isFields(named) ? named : {}, 'name', `${place}.function.`)
  })
  return { mode: allowed['mode'] === 'required' ? 'required' : 'auto', names }
}
