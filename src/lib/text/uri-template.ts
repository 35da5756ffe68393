/** A part of a template: a text that stands there as it is, or an expression; `wide`: its value may contain slashes. */
type Part = { readonly text: string } | { readonly wide: boolean }

/** Longer ones never fit. */
const longest = 8192

/**
 * Returns whether a URI could be made of a URI template (RFC 6570). Each place that a part may end at is kept, so that the time is in proportion to
 * the product of both lengths for any template.
 */
export function fitsTemplate(template: string, uri: string): boolean {
  if (template.length > longest || uri.length > longest) return false
  let ends = new Set([0])
  for (const part of partsOf(template)) {
    ends = 'text' in part ? afterText(uri, ends, part.text) : afterValue(uri, ends, part.wide)
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
      if (!wide && uri[at] === '/') break
    }
  return after
}
