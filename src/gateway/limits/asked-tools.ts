import { isFields, type Fields } from '../../lib/json/fields.ts'
import { isLocal, listOf } from '../dialects/openai-responses/sold-tools.ts'
import { withOptions } from './output-bound.ts'

/** Groups of tools may have groups in them. */
const deepest = 3

/** Returns the tools of a request wherever a format lists them, also those in items of its input and in groups. */
export function toolsOf(json: Fields): readonly Fields[] {
  const found: Fields[] = []
  for (const fields of withOptions(json)) addTools(fields['tools'], found)
  const { additionalModelRequestFields: ofBedrock, toolConfig, input } = json
  addHeld(ofBedrock, found)
  addHeld(toolConfig, found)
  for (const item of listOf(input)) addHeld(item, found)
  return found
}

function addHeld(holder: unknown, found: Fields[]): void {
  if (isFields(holder)) addTools(holder['tools'], found)
}

function addTools(tools: unknown, found: Fields[], depth = 0): void {
  for (const tool of listOf(tools)) {
    if (!isFields(tool)) continue
    found.push(tool)
    if (depth < deepest) addTools(tool['tools'], found, depth + 1)
  }
}

/** Returns the names by which a tool is known. Google names it by the field that holds it. */
export function toolNames(tool: Fields): readonly string[] {
  const { type } = tool
  return typeof type === 'string' ? [type] : Object.keys(tool)
}

/** Tools that the caller runs, and the groups of such: they cost no more than the tokens in the body. */
const ownNames: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'tool_search',
  'local_shell',
  'apply_patch',
  'toolSpec',
  'cachePoint',
  'functionDeclarations',
  'function_declarations',
])
/** The same with a date or a variant at the end. */
const ownBeginnings: readonly string[] = ['computer', 'bash_', 'text_editor_', 'memory_', 'tool_search_tool_']

/** Returns true for a tool that the caller runs. One without a type is a function if it has a name. */
export function isOwnTool(tool: Fields): boolean {
  const { type } = tool
  if (isLocal(tool)) return true
  if (typeof type === 'string') return isOwnName(type)
  return typeof tool['name'] === 'string' || isFields(tool['function'])
}

export const isOwnName = (name: string): boolean => ownNames.has(name) || ownBeginnings.some((beginning) => name.startsWith(beginning))
