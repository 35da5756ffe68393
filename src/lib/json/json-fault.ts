/** The place and cause of a JSON syntax error. Positions count characters from 0; lines and columns begin at 1. */
export interface JsonFault {
  readonly what: string
  readonly position: number
  readonly line: number
  readonly column: number
}

/** The first place where `text`, which JSON.parse refused, stops being JSON. */
export function findJsonFault(text: string): JsonFault {
  const position = firstFault(text)
  const before = text.slice(0, position)
  const what = position >= text.length ? 'unexpected end' : 'unexpected character'
  return { what, position, line: before.split('\n').length, column: position - before.lastIndexOf('\n') }
}

type ExpectedToken = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'next'
type Bracket = '{' | '['

/** Walks the tokens with an explicit stack, so that depth is free. */
function firstFault(text: string): number {
  const open: Bracket[] = []
  let expected: ExpectedToken = 'value'
  let at = skip(space, text, 0)
  while (at < text.length) {
    const afterSign = punctuate(text.charAt(at), expected, open)
    if (afterSign !== null) {
      expected = afterSign
      at = skip(space, text, at + 1)
      continue
    }
    const token = scalar(text, at, expected)
    if (token.fault) return token.end
    expected = expected === 'key' || expected === 'firstKey' ? 'colon' : 'next'
    at = skip(space, text, token.end)
  }
  return text.length
}

/** Returns the token expected after one of `{}[]:,`; null if the character is another one, or not allowed here. */
function punctuate(char: string, expected: ExpectedToken, open: Bracket[]): ExpectedToken | null {
  if (char === ':') return expected === 'colon' ? 'value' : null
  if (char === ',') return expected === 'next' ? afterComma(open.at(-1)) : null
  if (char === '{' || char === '[') return openBracket(char, expected, open)
  return closeBracket(char, expected, open)
}

const afterComma = (inside: Bracket | undefined) => (inside === undefined ? null : inside === '{' ? 'key' : 'value')

function openBracket(char: Bracket, expected: ExpectedToken, open: Bracket[]): ExpectedToken | null {
  if (expected !== 'value' && expected !== 'firstValue') return null
  open.push(char)
  return char === '{' ? 'firstKey' : 'firstValue'
}

function closeBracket(char: string, expected: ExpectedToken, open: Bracket[]): ExpectedToken | null {
  const inside = open.at(-1)
  if (inside === undefined || char !== closing[inside]) return null
  if (expected !== 'next' && expected !== (inside === '{' ? 'firstKey' : 'firstValue')) return null
  open.pop()
  return 'next'
}

const closing: Readonly<Record<Bracket, string>> = { '{': '}', '[': ']' }

const space = /[ \t\r\n]*/y
const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
/** Bounded, so that the regular expression's own stack cannot overflow on a long string. */
// oxlint-disable-next-line no-control-regex -- JSON forbids these characters in a string
const characters = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,10000}/y

/** The end of a string, number or word that begins at `start`, or the character that spoils it. */
function scalar(text: string, start: number, expected: ExpectedToken): { readonly end: number; readonly fault: boolean } {
  if (expected === 'colon' || expected === 'next') return { end: start, fault: true }
  if (text.charAt(start) !== '"') {
    const end = expected === 'key' || expected === 'firstKey' ? start : skip(word, text, start)
    return { end, fault: end === start }
  }
  let end = start + 1
  for (let next = skip(characters, text, end); next !== end; next = skip(characters, text, end)) end = next
  return text.charAt(end) === '"' ? { end: end + 1, fault: false } : { end, fault: true }
}

function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}
