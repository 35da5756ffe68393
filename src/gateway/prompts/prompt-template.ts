import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { parseJson } from '../../lib/json/json.ts'
import { jsonOutput, undeclared } from './json-output.ts'
import { newBudget, plainText, render, type Partials } from './render.ts'
import { compile, walk, type Template } from './template.ts'

/** The template of a version, as it is stored. */
export interface TemplateSource {
  readonly string: string
  readonly isRaw: boolean
  /** The variables that a raw template may take as JSON: `template_metadata.json_variables`. */
  readonly jsonVariables: readonly string[]
}

/** A message of a chat, as the template or its variables make it. */
export type Message = Readonly<Record<string, unknown>>

/** A version's template, checked and ready to render. */
export type PromptTemplate =
  /** Messages as JSON; each text in them is a template of its own. */
  | { readonly kind: 'messages'; readonly messages: readonly Part[] }
  /** A template of a JSON document, which is read after it was rendered. */
  | { readonly kind: 'raw'; readonly template: Template; readonly declared: ReadonlySet<string> }
  /** One message of the user. */
  | { readonly kind: 'text'; readonly template: Template }

/** A JSON value whose texts may be templates. */
type Part =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'template'; readonly template: Template }
  | { readonly kind: 'list'; readonly items: readonly Part[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Part])[] }

const field = 'string'
const maxDepth = 64

/** Compiles a version's template. Throws `invalid_request`, param `string`, with the fault. */
export function compilePrompt({ string, isRaw, jsonVariables }: TemplateSource): PromptTemplate {
  if (isRaw) return compileRaw(string, new Set(jsonVariables))
  const messages = readMessages(string)
  if (messages === null) return { kind: 'text', template: compile(string, field) }
  return { kind: 'messages', messages: messages.map((message, at) => toPart(message, `${field}[${at}]`, maxDepth)) }
}

function compileRaw(string: string, declared: ReadonlySet<string>): PromptTemplate {
  const template = compile(string, field)
  for (const [node] of walk(template)) if (node.kind === 'value' && node.asIs && !declared.has(node.name)) throw undeclared(node.name)
  return { kind: 'raw', template, declared }
}

/** The messages that a text spells as JSON; null when it is a text like any other. */
function readMessages(text: string): readonly Message[] | null {
  if (!/^\s*\[\s*[{\]]/.test(text)) return null
  const list = parseOrNull(text)
  if (!Array.isArray(list) || !list.every(isFields)) return null
  checkMessages(list, field)
  return list
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function checkMessages(list: readonly unknown[], param: string): asserts list is readonly Message[] {
  if (list.length === 0) throw new ApiError('invalid_request', 'A prompt needs at least one message.', { param })
  const without = list.findIndex((message) => !isFields(message) || typeof message['role'] !== 'string' || message['role'] === '')
  if (without !== -1) throw new ApiError('invalid_request', `Message ${without} of the prompt is no object with a role.`, { param })
}

function toPart(value: unknown, at: string, depth: number): Part {
  if (depth === 0)
    throw new ApiError('invalid_request', `The template in ${at} is nested deeper than ${maxDepth} levels.`, { param: field })
  if (typeof value === 'string') return { kind: 'template', template: compileAt(value, at) }
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item, index) => toPart(item, `${at}[${index}]`, depth - 1)) }
  if (!isFields(value)) return { kind: 'value', value }
  return { kind: 'object', fields: Object.entries(value).map(([name, child]) => [name, toPart(child, `${at}.${name}`, depth - 1)]) }
}

/** A fault is reported for the field `string`, with its place in it. */
function compileAt(text: string, at: string): Template {
  try {
    return compile(text, at)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(error.code, error.message, { param: field, cause: error })
  }
}

/** Every Mustache template in it. */
export const templatesIn = (prompt: PromptTemplate): readonly Template[] =>
  prompt.kind === 'messages' ? prompt.messages.flatMap(templatesOf) : [prompt.template]

function templatesOf(part: Part): readonly Template[] {
  if (part.kind === 'template') return [part.template]
  if (part.kind === 'list') return part.items.flatMap(templatesOf)
  return part.kind === 'object' ? part.fields.flatMap(([, child]) => templatesOf(child)) : []
}

/** The messages that a template makes of variables. */
export function renderMessages(template: PromptTemplate, variables: unknown, partials: Partials): readonly Message[] {
  const budget = newBudget()
  const plain = { partials, output: plainText, budget }
  if (template.kind === 'text') return [{ role: 'user', content: render(template.template, variables, plain) }]
  const list =
    template.kind === 'messages'
      ? template.messages.map((part) => toValue(part, (text) => render(text, variables, plain)))
      : readRendered(render(template.template, variables, { partials, output: jsonOutput(template.declared), budget }))
  checkMessages(list, 'variables')
  return list
}

function toValue(part: Part, text: (template: Template) => string): unknown {
  if (part.kind === 'value') return part.value
  if (part.kind === 'template') return text(part.template)
  if (part.kind === 'list') return part.items.map((item) => toValue(item, text))
  return Object.fromEntries(part.fields.map(([name, child]) => [name, toValue(child, text)]))
}

/** Lists within the list are those that declared variables put there, such as the messages so far. */
function readRendered(text: string): readonly unknown[] {
  const list = parseRendered(text)
  if (Array.isArray(list)) return list.flat()
  throw new ApiError('invalid_request', 'The raw template does not render to a list of messages.', { param: 'variables' })
}

function parseRendered(text: string): unknown {
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    const why = error instanceof ApiError ? error.message.replace('The request body is', 'It is') : ''
    throw new ApiError('invalid_request', `The raw template does not render to JSON. ${why}`, { param: 'variables', cause: error })
  }
}
