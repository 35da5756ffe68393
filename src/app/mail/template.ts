import { escapeHtml, htmlEntities } from '../../lib/text/escape-html.ts'
import { elementText, textIn } from './html-text.ts'
import { oneLine } from '../../lib/text/one-line.ts'

/** The values that fill a template, by name. */
export type Variables = Readonly<Record<string, string>>

/** A mail, filled in. */
export interface RenderedMail {
  readonly subject: string
  readonly html: string
  readonly text: string
}

/** `{{name}}`, or `{{#name}}…{{/name}}` around a part that is left out when the variable is empty; sections do not nest. */
const tag = /\{\{([#/]?)\s*([a-z_]{1,64})\s*\}\}/g

/** The names that a template uses. */
export const namesIn = (template: string): ReadonlySet<string> => new Set([...template.matchAll(tag)].map(([, , name = '']) => name))

/**
 * Fills a template: HTML whose `<title>` is the subject. Variables are text and are escaped; they are filled in once, so that a variable which looks
 * like a template stays unchanged.
 */
export function render(template: string, variables: Variables): RenderedMail {
  const title = elementText(template, 'title')
  const html = fill(template, variables, escapeHtml)
  return { subject: oneLine(unescapeHtml(fill(title, variables, escapeHtml)), 200), html, text: toText(html) }
}

function fill(template: string, variables: Variables, write: (value: string) => string): string {
  const parts: string[] = []
  let [from, hiding]: [number, string | null] = [0, null]
  for (const { 0: found, 1: kind, 2: name = '', index } of template.matchAll(tag)) {
    if (hiding === null) parts.push(template.slice(from, index))
    from = index + found.length
    if (kind === '/') hiding = hiding === name ? null : hiding
    else if (hiding !== null) continue
    else if (kind === '#') hiding = value(variables, name) === '' ? name : null
    else parts.push(write(value(variables, name)))
  }
  if (hiding === null) parts.push(template.slice(from))
  return parts.join('')
}

const value = (variables: Variables, name: string): string => (Object.hasOwn(variables, name) ? (variables[name] ?? '') : '')

const unescapeHtml = (text: string) =>
  Object.entries(htmlEntities)
    .toReversed()
    .reduce((rest, [character, entity]) => rest.replaceAll(entity, character), text)

/** The same for readers without HTML: links are written out. */
function toText(html: string): string {
  const lines = unescapeHtml(textIn(html))
    .split('\n')
    .map((line) => line.replaceAll(/[ \t]+/g, ' ').trim())
  return lines
    .filter((line, at) => line !== '' || (at > 0 && lines[at - 1] !== ''))
    .join('\n')
    .trim()
}
