/** A value of Python's literals and calls: a call becomes the object of its named arguments. */
export type Read = null | boolean | number | string | readonly Read[] | { readonly [name: string]: Read }

const token =
  /\s*(?:#[^\n]*\n)?\s*(?:(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_][\w.]*)|(?<sign>[()[\]{}=,:]))/y

/**
 * Reads the value that a Python module gives to a name: lists, dictionaries, texts, numbers and calls with named arguments. No code runs, so that a list of prices
 * can be read from a package without trusting it. Throws on everything else.
 */
export function readPython(source: string, variable: string): Read {
  const start = new RegExp(String.raw`^${variable}(?::[^=\n]*)?\s*=\s*`, 'm').exec(source)
  if (start === null) throw new Error(`the module has no ${variable}`)
  const tokens = tokensOf(source, start.index + start[0].length)
  const value = tokens.value()
  return value
}

interface Token {
  readonly kind: 'text' | 'number' | 'name' | 'sign'
  readonly text: string
}

function tokensOf(source: string, from: number) {
  let at = from
  const peek = (): Token & { readonly end: number } => {
    token.lastIndex = at
    const groups = token.exec(source)?.groups
    for (const kind of ['text', 'number', 'name', 'sign'] as const) {
      const text = groups?.[kind]
      if (text !== undefined) return { kind, text, end: token.lastIndex }
    }
    throw new Error(`no value at byte ${at}: ${source.slice(at, at + 40)}`)
  }
  const take = (): Token => {
    const next = peek()
    at = next.end
    return next
  }
  const skip = (sign: string): boolean => {
    const next = peek()
    if (next.kind !== 'sign' || next.text !== sign) return false
    at = next.end
    return true
  }
  const until = <T>(end: string, read: () => T): readonly T[] => {
    const all: T[] = []
    while (!skip(end)) {
      all.push(read())
      skip(',')
    }
    return all
  }
  const value = (): Read => {
    const { kind, text } = take()
    if (kind === 'text') return texts(text)
    if (kind === 'number') return Number(text.replaceAll('_', ''))
    if (text === '[') return until(']', value)
    if (text === '{') return Object.fromEntries(until('}', pair))
    if (text === '(') return until(')', value)[0] ?? null
    return kind === 'name' ? named(text) : fail(text)
  }
  /** Texts that stand next to each other are one. */
  const texts = (first: string): string => {
    let whole = unquoted(first)
    for (let next = peek(); next.kind === 'text'; next = peek()) whole += unquoted(take().text)
    return whole
  }
  const pair = (): readonly [string, Read] => {
    const key = value()
    if (typeof key !== 'string' || !skip(':')) return fail(JSON.stringify(key))
    return [key, value()]
  }
  const named = (name: string): Read => (skip('(') ? called(name, until(')', argument)) : (constants[name] ?? null))
  const argument = (): readonly [string | null, Read] => {
    const before = at
    const { kind, text } = take()
    if (kind === 'name' && skip('=')) return [text.replace(/_$/, ''), value()]
    at = before
    return [null, value()]
  }
  return { value }
}

const fail = (text: string): never => {
  throw new Error(`no value: ${text}`)
}

const constants: Readonly<Record<string, boolean>> = { True: true, False: false }
const digits = (number: Read | undefined, many: number): string => JSON.stringify(number ?? 0).padStart(many, '0')

function called(name: string, given: readonly (readonly [string | null, Read])[]): Read {
  const plain = given.filter(([key]) => key === null).map(([, value]) => value)
  if (name === 'Decimal') return Number(plain[0])
  if (name === 'datetime.date') return `${digits(plain[0], 4)}-${digits(plain[1], 2)}-${digits(plain[2], 2)}`
  if (name === 'datetime.time') return `${digits(plain[0], 2)}:${digits(plain[1], 2)}:00Z`
  return Object.fromEntries(given.flatMap(([key, value]) => (key === null ? [] : [[key, value]])))
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

const unquoted = (text: string): string => text.slice(1, -1).replaceAll(/\\([\s\S])/g, (_, letter: string) => escapes[letter] ?? letter)
