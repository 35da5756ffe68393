import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { JsonPath } from '../../../lib/json/json-path.ts'
import type { TextPart } from '../neutral/texts.ts'
import { isClosed, isData, isToken, kindOf } from './field-kinds.ts'

export const roleOf = (value: unknown, otherwise: string): string =>
  isFields(value) && typeof value['role'] === 'string' ? (roles[value['role']] ?? value['role']) : otherwise

/** One name for each role of any API. */
const roles: Readonly<Record<string, string>> = {
  developer: 'system',
  model: 'assistant',
  function: 'tool',
  chatbot: 'assistant',
  USER: 'user',
  SYSTEM: 'system',
  CHATBOT: 'assistant',
}

/** A text where there is one. */
export const textAt = (value: unknown, path: JsonPath, role: string): TextPart[] =>
  typeof value === 'string' && value !== '' ? [{ path, role, text: value }] : []

/** The findings in the texts, objects and lists of a list, each with its path; numbers and the like, of which a list may have millions, hold none. */
export function inItems<T>(value: unknown, path: JsonPath, find: (item: unknown, path: JsonPath, at: number) => readonly T[]): T[] {
  const found: T[] = []
  if (!Array.isArray(value)) return found
  for (let at = 0; at < value.length; at += 1) {
    const item: unknown = value[at]
    if (mayHoldText(item)) for (const one of find(item, [...path, at], at)) found.push(one)
  }
  return found
}

const mayHoldText = (value: unknown): boolean => typeof value === 'string' || (typeof value === 'object' && value !== null)

/** How deep a value is looked into; a body has at most 128 levels. */
const maxDepth = 128

/** Every text anywhere in a value. */
export function everyText(value: unknown, path: JsonPath, role: string): readonly TextPart[] {
  const found: TextPart[] = []
  const at = [...path]
  const into = (step: string | number, child: unknown): void => {
    at.push(step)
    walk(child)
    at.pop()
  }
  const walk = (part: unknown): void => {
    if (typeof part === 'string' && part !== '') found.push({ path: [...at], role, text: part })
    else if (at.length - path.length > maxDepth || typeof part !== 'object' || part === null) return
    else if (Array.isArray(part)) part.forEach((item: unknown, index) => into(index, item))
    else for (const [name, child] of Object.entries(part)) into(name, child)
  }
  walk(value)
  return found
}

/** So many steps lead to all the objects and texts of the longest conversations. */
const maxSteps = 250_000

/** The result of checks for a body whose texts are not collected. */
export const vast = 'It holds too many texts and objects, or holds them too deep, to be looked through.'

/** Returns whether a value is a heap of crumbs: to collect its texts, each with its path, would cost a thousand times their length. */
export function isVast(value: unknown): boolean {
  let left = maxSteps
  const count = (part: object, depth: number): void => {
    if (depth > maxDepth) left = -1
    // The items of a list without texts cost next to nothing, the names of fields do not.
    const perOther = Array.isArray(part) ? 0 : 1
    for (const child of Array.isArray(part) ? part : Object.values(part)) {
      const mayHold = mayHoldText(child)
      left -= mayHold ? depth : perOther
      if (left < 0) return
      if (mayHold && typeof child === 'object') count(child, depth + 1)
    }
  }
  if (typeof value === 'object' && value !== null) count(value, 1)
  return left < 0
}

/** A walk through a value: its place, its speaker, and its findings. */
interface Walk {
  readonly at: (string | number)[]
  role: string
  readonly found: TextPart[]
}

/**
 * Every text in a message, a part of one, a tool or an answer, in the words of any of the APIs, present and future: every value that is not known to
 * be data is read.
 */
export function contentTexts(content: unknown, path: JsonPath, role: string): TextPart[] {
  const walk: Walk = { at: [...path], role, found: [] }
  read(content, walk)
  return walk.found
}

/** The texts of one field of the outermost object. */
export function fieldTexts(fields: Fields, name: string, role: string): TextPart[] {
  const walk: Walk = { at: [], role, found: [] }
  readField(fields, name, walk)
  return walk.found
}

function read(value: unknown, walk: Walk): void {
  if (typeof value === 'string') {
    if (value !== '') walk.found.push({ path: [...walk.at], role: walk.role, text: value })
  } else if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) enter(at, value[at], walk)
  } else if (isFields(value)) readFields(value, walk)
}

function enter(step: string | number, value: unknown, walk: Walk): void {
  if (walk.at.length > maxDepth) return
  walk.at.push(step)
  read(value, walk)
  walk.at.pop()
}

/** Texts of tools stay theirs, whichever role passes them on; fields beside the main text are read before it. */
function readFields(fields: Fields, walk: Walk): void {
  const { role } = walk
  if (fields['type'] === 'tool_result') walk.role = 'tool'
  const main: string[] = []
  for (const name of Object.keys(fields)) {
    if (!mayHoldText(fields[name])) continue
    if (kindOf(name) === 'main') main.push(name)
    else readField(fields, name, walk)
  }
  for (const name of main) readField(fields, name, walk)
  walk.role = role
}

/** An assistant's inputs to tools: they may carry texts that the conversation must not. */
const calls: ReadonlySet<string> = new Set(['tool_calls', 'function_call'])

function readField(fields: Fields, name: string, walk: Walk): void {
  const value = fields[name]
  const kind = kindOf(name)
  if (typeof value === 'string') {
    if (!isData(kind, value, fields)) enter(name, value, walk)
  } else if (typeof value === 'object' && value !== null && !isClosed(kind, fields)) {
    const { role } = walk
    if (calls.has(name)) walk.role = 'assistant'
    walk.at.push(name)
    readHeld(value, kind, walk)
    walk.at.pop()
    walk.role = role
  }
}

/** The texts of an object or a list in a field. */
function readHeld(value: object, kind: string | undefined, walk: Walk): void {
  if (kind === 'free') for (const part of everyText(value, walk.at, walk.role)) walk.found.push(part)
  else if (kind === 'named' && isFields(value)) for (const name of Object.keys(value)) enter(name, value[name], walk)
  else if (kind === 'token' && Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) if (typeof value[at] !== 'string' || !isToken(value[at])) enter(at, value[at], walk)
  } else read(value, walk)
}
