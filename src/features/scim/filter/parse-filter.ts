import { scimError, type ScimType } from '../scim-error.ts'
import { comparisons, type Comparison, type Filter, type Operand, type PatchPath } from './filter.ts'

/** The longest and deepest filter: far beyond any that is written by hand. */
const maxLength = 2048
const maxDepth = 10

/** A number, a text, a bracket, or a word: the name of an attribute, an operator, `true`. */
const token = /\s*(?:(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.:$-])|("(?:[^"\\]|\\.)*")|([()[\]])|(\.?[A-Za-z$][\w.:$-]*))/y

interface Token {
  readonly kind: 'number' | 'text' | 'bracket' | 'word'
  readonly text: string
}

/** The state of a parser. */
interface Reader {
  readonly tokens: readonly Token[]
  at: number
  depth: number
  readonly fault: ScimType
}

/** Parses a filter. Throws `invalidFilter`. */
export function parseFilter(source: string): Filter {
  const reader = read(source, 'invalidFilter')
  const filter = parseOr(reader)
  if (reader.at < reader.tokens.length) throw unexpected(reader, 'and, or, or the end')
  return filter
}

/** Parses the path of an operation of a PATCH. Throws `invalidPath`. */
export function parsePath(source: string): PatchPath {
  const reader = read(source, 'invalidPath')
  const path = take(reader, 'word', 'the name of an attribute').text
  if (peek(reader)?.text !== '[') {
    demandEnd(reader)
    return { path, where: null, part: null }
  }
  const where = parseBracket(reader)
  const part = peek(reader)?.text.startsWith('.') === true ? take(reader, 'word', 'a part').text.slice(1) : null
  demandEnd(reader)
  return { path, where, part }
}

function demandEnd(reader: Reader): void {
  if (reader.at < reader.tokens.length) throw unexpected(reader, 'the end')
}

function read(source: string, fault: ScimType): Reader {
  if (source.length > maxLength) throw scimError(fault, `It is longer than ${maxLength} characters.`, 'filter')
  const tokens: Token[] = []
  token.lastIndex = 0
  for (let end = 0; source.slice(end).trim() !== ''; end = token.lastIndex) {
    const found = token.exec(source)
    if (found === null) throw scimError(fault, `It cannot be read from here on: ${source.slice(end, end + 40)}`, 'filter')
    const [, number, text, bracket, word] = found
    tokens.push(
      number !== undefined
        ? { kind: 'number', text: number }
        : text !== undefined
          ? { kind: 'text', text }
          : bracket !== undefined
            ? { kind: 'bracket', text: bracket }
            : { kind: 'word', text: word ?? '' },
    )
  }
  return { tokens, at: 0, depth: 0, fault }
}

const peek = ({ tokens, at }: Reader): Token | undefined => tokens[at]

const isWord = (found: Token | undefined, word: string): boolean => found?.kind === 'word' && found.text.toLowerCase() === word

function take(reader: Reader, kind: Token['kind'], what: string): Token {
  const found = peek(reader)
  if (found?.kind !== kind) throw unexpected(reader, what)
  reader.at += 1
  return found
}

function unexpected(reader: Reader, wanted: string) {
  const found = peek(reader)
  return scimError(reader.fault, `Expected ${wanted}, and found ${found === undefined ? 'the end' : found.text.slice(0, 40)}.`, 'filter')
}

function parseOr(reader: Reader): Filter {
  let left = parseAnd(reader)
  while (isWord(peek(reader), 'or')) {
    reader.at += 1
    left = { op: 'or', left, right: parseAnd(reader) }
  }
  return left
}

function parseAnd(reader: Reader): Filter {
  let left = parseTerm(reader)
  while (isWord(peek(reader), 'and')) {
    reader.at += 1
    left = { op: 'and', left, right: parseTerm(reader) }
  }
  return left
}

function parseTerm(reader: Reader): Filter {
  const found = peek(reader)
  if (found?.text === '(') return parseGroup(reader)
  if (isWord(found, 'not') && reader.tokens[reader.at + 1]?.text === '(') {
    reader.at += 1
    return { op: 'not', of: parseGroup(reader) }
  }
  return parseComparison(reader)
}

const parseGroup = (reader: Reader): Filter => between(reader, ')')

const parseBracket = (reader: Reader): Filter => between(reader, ']')

/** Reads the text between the next bracket and its other half. */
function between(reader: Reader, closing: string): Filter {
  reader.at += 1
  reader.depth += 1
  if (reader.depth > maxDepth) throw scimError(reader.fault, `Its brackets are deeper than ${maxDepth}.`, 'filter')
  const filter = parseOr(reader)
  if (peek(reader)?.text !== closing) throw unexpected(reader, closing)
  reader.at += 1
  reader.depth -= 1
  return filter
}

function parseComparison(reader: Reader): Filter {
  const path = take(reader, 'word', 'the name of an attribute').text
  if (peek(reader)?.text !== '[') return compare(reader, path)
  const where = parseBracket(reader)
  const part = peek(reader)
  if (part?.kind !== 'word' || !part.text.startsWith('.')) return { op: 'some', path, where, rest: null }
  reader.at += 1
  return { op: 'some', path, where, rest: compare(reader, part.text.slice(1)) }
}

function compare(reader: Reader, path: string): Filter {
  const operator = take(reader, 'word', 'an operator').text.toLowerCase()
  if (operator === 'pr') return { op: 'present', path }
  if (!isComparison(operator)) throw scimError(reader.fault, `${operator.slice(0, 40)} is no operator.`, 'filter')
  return { op: 'compare', path, operator, value: operandOf(reader) }
}

const isComparison = (text: string): text is Comparison => comparisons.some((one) => one === text)

function operandOf(reader: Reader): Operand {
  const found = peek(reader)
  reader.at += 1
  if (found?.kind === 'number') return Number(found.text)
  if (found?.kind === 'text') return textOf(found.text, reader.fault)
  const word = found?.kind === 'word' ? found.text.toLowerCase() : ''
  if (word === 'true' || word === 'false') return word === 'true'
  if (word === 'null') return null
  reader.at -= 1
  throw unexpected(reader, 'a value: a text in double quotes, a number, true, false or null')
}

function textOf(quoted: string, fault: ScimType): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    throw scimError(fault, `${quoted.slice(0, 40)} is not a text as JSON writes it.`, 'filter')
  }
}
