import { isFields, type Fields } from '../../lib/json/fields.ts'
import { isLocal, listOf } from './openai-responses/sold-tools.ts'
import { sentFields } from './sent-fields.ts'
import { isFetchingName, isOwnName, soldAs } from './tool-names.ts'

/** Groups of tools may have groups in them. */
const deepest = 3

/** Returns the tools of a request wherever a format lists them, also those in items of its input and in groups. */
export function toolsOf(json: Fields): readonly Fields[] {
  const found: Fields[] = []
  for (const fields of sentFields(json)) {
    addTools(fields['tools'], found)
    addHeld(fields['toolConfig'], found)
    for (const item of listOf(fields['input'])) addHeld(item, found)
  }
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

/** Returns true for a tool that the caller runs. One without a type is a function if it has a name. */
export function isOwnTool(tool: Fields): boolean {
  const { type } = tool
  if (isLocal(tool)) return true
  if (typeof type === 'string') return isOwnName(type)
  return typeof tool['name'] === 'string' || isFields(tool['function'])
}

/** Returns true for a tool that no table has: it may sell anything, such as the work of another model. */
export function isUnknownTool(tool: Fields): boolean {
  if (isOwnTool(tool)) return false
  const isTyped = typeof tool['type'] === 'string'
  return toolNames(tool).some((name) => (isTyped || (tool[name] ?? null) !== null) && !isKnownName(name))
}

const isKnownName = (name: string): boolean => isOwnName(name) || isFetchingName(name) || soldAs(name).length > 0
