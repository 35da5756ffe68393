import { RE2JS } from 're2js'
import { effort } from './effort.ts'
import { type PatternReach, patternReach } from './pattern-reach.ts'

/** A regular expression of a caller's own. It takes time linear in the text, whatever it says. */
export interface Pattern {
  test(text: string): boolean
  /**
   * The parts of each text that match, in order. Throws when all together are too many, or take too long to find: each search is linear,
   * thousands need not be.
   */
  matches(texts: readonly string[]): readonly (readonly Match[])[]
  /** How long a match can be when it first shows. */
  reach(): PatternReach
}

export interface Match {
  readonly start: number
  readonly end: number
}

/** The longest pattern, in characters. */
export const longestPattern = 1024
/** Counted repeats multiply; beyond this many instructions a pattern is refused. */
const largestProgram = 10_000
/** More matches than anyone writes. */
const maxMatches = 10_000
/** One search takes a quarter of this for each character; what takes so much longer looks at the same ones again and again. */
const searchMicros = 0.5
/** A long text is tried in slices first: linear is still a minute for a large pattern that stays in a thousand places at once. */
const slice = 4096

const flags: Readonly<Record<string, number>> = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL }

/** What is wrong with a pattern, as a sentence's end; null when it can be used. */
export function patternFault(source: string): string | null {
  try {
    compile(source)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Compiles a pattern in RE2 syntax; `/pattern/flags` is understood too. Throws an Error that says what is wrong. */
export function compilePattern(source: string): Pattern {
  const compiled = compile(source)
  return {
    test: (text) => tests(compiled, text),
    reach: () => patternReach(compiled.re2Input.prog),
    matches(texts) {
      const spend = effort(
        texts.reduce((sum, { length }) => sum + length, 0),
        searchMicros,
      )
      let count = 0
      return texts.map((text) => {
        // Where it matches costs a hundred times as much to know as whether it does.
        if (!tests(compiled, text)) return []
        const matcher = compiled.matcher(text)
        const found: Match[] = []
        while (matcher.find()) {
          found.push({ start: matcher.start(), end: matcher.end() })
          count += 1
          if (count > maxMatches) throw new Error(`The pattern matches more than ${maxMatches} times.`)
          spend()
        }
        return found
      })
    },
  }
}

function tests(compiled: RE2JS, text: string): boolean {
  if (text.length > 2 * slice) {
    const spend = effort(text.length)
    for (let at = 0; at < text.length; at += slice) {
      compiled.test(text.slice(at, at + slice))
      spend()
    }
  }
  return compiled.test(text)
}

const delimited = /^\/(.*)\/([a-z]*)$/s

function compile(source: string): RE2JS {
  if (source.length > longestPattern) throw new Error(`is longer than ${longestPattern} characters`)
  const [, inner, letters = ''] = delimited.exec(source) ?? [null, source, '']
  let flag = 0
  for (const letter of letters) {
    if (letter === 'g' || letter === 'u') continue
    const known = Object.hasOwn(flags, letter) ? flags[letter] : undefined
    if (known === undefined) throw new Error(`has the flag ${letter}, which is not supported`)
    flag |= known
  }
  if (patternSize(inner ?? '') > 2 * largestProgram) throw tooLarge()
  return limited(() => RE2JS.compile(inner ?? '', flag))
}

const tooLarge = () => new Error('repeats too much: it would be too large')

const token = /\\Q[\s\S]*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/g
const adds = (text: string): number => ('*+?|^$'.includes(text) ? 0 : text.startsWith('\\Q') ? text.length : 1)

/** About how large a pattern's program is. The engine says it when it has made it, and half a million instructions take long to make. */
export function patternSize(source: string): number {
  const around: number[] = []
  let [inside, last] = [0, 0]
  for (const [text, least = '', most = ''] of source.matchAll(token)) {
    if (text === '(') {
      around.push(inside)
      inside = 0
      continue
    }
    const times = Math.max(Number(least), Number(most), 1)
    const size = text === ')' ? inside : least === '' ? adds(text) : last * (times - 1)
    last = least === '' ? size : last * times
    inside = text === ')' ? (around.pop() ?? 0) + size : inside + size
  }
  return around.reduce((sum, size) => sum + size, inside)
}

function limited(make: () => RE2JS): RE2JS {
  const compiled = translated(make)
  if (compiled.programSize() > largestProgram) throw tooLarge()
  return compiled
}

/** The engine's own words, without its prefix. */
function translated(make: () => RE2JS): RE2JS {
  try {
    return make()
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error)
    throw new Error(`cannot be used: ${said}`, { cause: error })
  }
}
