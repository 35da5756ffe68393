/** So many candidates are looked at: a text of brackets must not keep us. */
const maxCandidates = 50

/** Nor must one of brackets that are never closed, whose every candidate reaches to its end: so many characters are looked at. */
const maxScanned = 8 * 1024 * 1024

/** Each part of it takes one way only: with a part for spaces of its own a long run of them would be looked at again from each of them. */
const fenced = /```+(?:json|JSON)?([\s\S]*?)```+/g

/** The JSON objects and arrays in a text: the whole of it, fenced blocks, else what stands between brackets. */
export function jsonIn(text: string): readonly unknown[] {
  const whole = parsed(text.trim())
  if (whole !== undefined) return [whole]
  const blocks = [...text.matchAll(fenced)].slice(0, maxCandidates).flatMap(([, inner = '']) => values(parsed(inner.trim())))
  return blocks.length > 0 ? blocks : bracketed(text)
}

const values = (value: unknown): readonly unknown[] => (value === undefined ? [] : [value])

/** Objects and arrays; numbers and words in a text are no JSON that anybody asked for. */
function parsed(text: string): unknown {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

function bracketed(text: string): readonly unknown[] {
  const found: unknown[] = []
  let at = text.indexOf('{')
  let scanned = 0
  for (let tried = 0; at !== -1 && tried < maxCandidates && scanned < maxScanned; tried += 1) {
    const end = balancedEnd(text, at)
    scanned += (end === -1 ? text.length : end) - at
    const value = end === -1 ? undefined : parsed(text.slice(at, end))
    if (value !== undefined) found.push(value)
    at = text.indexOf('{', value === undefined ? at + 1 : end)
  }
  return found
}

/** The index after the bracket that closes the one at `start`; -1 when none does. */
function balancedEnd(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (quoted) {
      if (char === '\\') at += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth += 1
    else if (char === '}') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}
