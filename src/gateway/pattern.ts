import { RE2JS } from 're2js'

/** A regular expression of a caller's own. It takes time linear in the text, whatever it says. */
export interface Pattern {
  test(text: string): boolean
  /** The parts that match, in order. Throws when they are too many, or take too long to find: each search is linear, thousands need not be. */
  matches(text: string): readonly { readonly start: number; readonly end: number }[]
}

/** The longest pattern, in characters. */
export const longestPattern = 1024
/** Counted repeats multiply; beyond this many instructions a pattern is refused. */
const largestProgram = 10_000
/** More matches than anyone writes. */
const maxMatches = 10_000
/** One search takes an eighth of this for each character; what takes so much longer looks at the same ones again and again. */
const searchMs = { least: 50, perCharacter: 0.001 }

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
    test: (text) => compiled.test(text),
    matches(text) {
      // Where it matches costs a hundred times as much to know as whether it does.
      if (!compiled.test(text)) return []
      const until = performance.now() + Math.max(searchMs.least, text.length * searchMs.perCharacter)
      const matcher = compiled.matcher(text)
      const found: { start: number; end: number }[] = []
      while (matcher.find()) {
        found.push({ start: matcher.start(), end: matcher.end() })
        if (found.length > maxMatches) throw new Error(`The pattern matches more than ${maxMatches} times.`)
        if (performance.now() > until) throw new Error('The pattern takes too long to find all its matches in so long a text.')
      }
      return found
    },
  }
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
  return limited(() => RE2JS.compile(inner ?? '', flag))
}

function limited(make: () => RE2JS): RE2JS {
  const compiled = translated(make)
  if (compiled.programSize() > largestProgram) throw new Error('repeats too much: it would be too large')
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
