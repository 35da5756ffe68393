import { ApiError } from '../../lib/errors.ts'
import { bounds } from './bounds.ts'
import { lookup, toText, type Context } from './context.ts'
import { type Indent, type Template } from './template.ts'

/** The place where a template's text goes: as it is, or into a JSON document, where every value has to stay a value. */
export interface Output {
  /** Text of the template itself. */
  text(text: string): string
  value(value: unknown, tag: { readonly name: string; readonly asIs: boolean }): string
}

/** The partials that a prompt includes, compiled, by the key that `partialKey` makes. */
export type Partials = ReadonlyMap<string, Template>

/** A partial is compiled once for every way in which its lines are indented. */
export const partialKey = (name: string, indent: Indent | null): string => (indent === null ? name : `${name}\n${indent}`)

/** Counts the work of all templates of one prompt together. */
export interface Budget {
  steps: number
  length: number
  lookups: number
}

export const newBudget = (): Budget => ({ steps: 0, length: 0, lookups: 0 })

export const plainText: Output = { text: (text) => text, value: toText }

interface RenderContext {
  readonly partials: Partials
  readonly output: Output
  readonly budget: Budget
}

/** Renders a template in one pass: the value of a variable is never read as a template. Throws `invalid_request` at a bound. */
export function render(template: Template, variables: unknown, rendering: RenderContext): string {
  const parts: string[] = []
  renderInto(parts, { template, context: { value: variables, parent: null }, depth: 0 }, rendering)
  return parts.join('')
}

interface Frame {
  readonly template: Template
  readonly context: Context
  readonly depth: number
}

function renderInto(parts: string[], frame: Frame, rendering: RenderContext): void {
  if (frame.depth > bounds.depth) throw tooMuch(`sections and partials are nested deeper than ${bounds.depth}`)
  spend(rendering.budget, 1, 0)
  for (const node of frame.template) {
    spend(rendering.budget, 1, 0)
    if (node.kind === 'text') push(parts, rendering, rendering.output.text(node.text))
    else if (node.kind === 'value') push(parts, rendering, rendering.output.value(seen(frame.context, node.name, rendering), node))
    else if (node.kind === 'partial')
      include(parts, { ...frame, template: rendering.partials.get(partialKey(node.name, node.indent)) ?? [] }, rendering)
    else
      for (const context of contextsOf(node, frame.context, rendering))
        renderInto(parts, { template: node.body, context, depth: frame.depth + 1 }, rendering)
  }
}

const include = (parts: string[], frame: Frame, rendering: RenderContext) =>
  renderInto(parts, { ...frame, depth: frame.depth + 1 }, rendering)

function push(parts: string[], { budget }: RenderContext, text: string): void {
  spend(budget, 0, text.length)
  parts.push(text)
}

const seen = (context: Context, name: string, { budget }: RenderContext): unknown =>
  lookup(context, name, (properties) => {
    budget.lookups += properties
    if (budget.lookups > bounds.lookups) throw tooMuch(`more than ${bounds.lookups} names would be looked up`)
  })

/** Returns the contexts of a section: each item of a list, the value itself, the context around it when the value is `true`, or none. */
function contextsOf(
  { name, inverted }: { readonly name: string; readonly inverted: boolean },
  parent: Context,
  rendering: RenderContext,
): Iterable<Context> {
  const value = seen(parent, name, rendering)
  const list = Array.isArray(value) ? value : null
  if (inverted) return !value || list?.length === 0 ? [parent] : []
  if (!value) return []
  if (list !== null) return itemsOf(list, parent)
  return [value === true ? parent : { value, parent }]
}

function* itemsOf(list: readonly unknown[], parent: Context): Generator<Context> {
  for (const value of list) yield { value, parent }
}

function spend(budget: Budget, steps: number, length: number): void {
  budget.steps += steps
  budget.length += length
  if (budget.steps > bounds.steps) throw tooMuch(`more than ${bounds.steps} parts would be rendered`)
  if (budget.length > bounds.outputLength) throw tooMuch(`the text would be longer than ${bounds.outputLength} characters`)
}

const tooMuch = (what: string) =>
  new ApiError('invalid_request', `The prompt cannot be rendered with these variables: ${what}.`, { param: 'variables' })
