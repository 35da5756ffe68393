/** A part of a template: a text that stands there as it is, or an expression; `wide`: its value may contain slashes. */
type Part = { readonly text: string } | { readonly wide: boolean }

/** Longer ones are not compared. */
const longest = 8192

/** The letters before which a value that is not wide ends: they are escaped within it, and begin another part of an address. */
const enders: ReadonlySet<string> = new Set('/\\?#')

/** A URI template (RFC 6570), read once. */
export type UriTemplate = readonly Part[]

/** The places that a match may still look at: one bound for all templates that a decision compares, since their number and length are a server's choice. */
export interface MatchBudget {
  places: number
}

/** Returns a template as its parts; null: it is too long to be compared. */
export const readTemplate = (template: string): UriTemplate | null => (template.length > longest ? null : partsOf(template))

/**
 * Returns whether a URI could be made of a URI template; null: it cannot be told, because the URI is too long or the budget is spent. Each place that
 * a part may end at is kept, so that the places are at most the product of the number of parts and the length of the URI.
 */
export function fitsTemplate(template: UriTemplate, uri: string, budget: MatchBudget): boolean | null {
  if (uri.length > longest) return null
  if (template.length === 0) return false
  let ends = new Set([0])
  for (const part of template) {
    ends = 'text' in part ? afterText(uri, ends, part.text) : afterValue(uri, ends, part.wide)
    budget.places -= ends.size + 1
    if (budget.places < 0) return null
    if (ends.size === 0) return false
  }
  return ends.has(uri.length)
}

const partsOf = (template: string): readonly Part[] =>
  template
    .split(/(\{[^{}]*\})/)
    .filter((text) => text !== '')
    .map((text) => (text.startsWith('{') && text.endsWith('}') ? { wide: /^\{[+#/?&]/.test(text) } : { text }))

const afterText = (uri: string, ends: ReadonlySet<number>, text: string): Set<number> =>
  new Set([...ends].filter((end) => uri.startsWith(text, end)).map((end) => end + text.length))

function afterValue(uri: string, ends: ReadonlySet<number>, wide: boolean): Set<number> {
  const after = new Set<number>()
  for (const end of ends)
    for (let at = end; at <= uri.length && !after.has(at); at++) {
      after.add(at)
      if (!wide && enders.has(uri[at] ?? '')) break
    }
  return after
}
