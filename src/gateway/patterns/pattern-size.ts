const token =
  /\\Q[\s\S]*?(?:\\E|$)|\\p\{[^}]*(?:\}|$)|\\p.|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*(?:\]|$)|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/gi

/** The size that one part of a pattern adds. */
type SizeOfPart = (text: string) => number

/** About how large a pattern's program is. The engine reports it when it has made it, and half a million instructions take long to make. */
export const patternSize = (source: string): number => sized(source, instructions)

/**
 * About how much work it is to make a pattern and to try it for the first time, in instructions, each some two microseconds. A class of
 * thousands of ranges is work once when it is read and again for each of its repeats; one that ignores case is work for each character.
 */
export function patternWork(source: string): number {
  const folds = ignoresCase.test(source)
  const read = [...source.matchAll(token)].reduce((sum, [text]) => sum + (isClass(text) ? readingOf(text, folds) : 0), 0)
  return Math.ceil(read + sized(source, (text) => instructions(text) * (isClass(text) ? 1 + bigClasses(text) * perBigClass : 1)))
}

function sized(source: string, adds: SizeOfPart): number {
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

const instructions: SizeOfPart = (text) => ('*+?|^$'.includes(text) ? 0 : text.startsWith('\\Q') ? text.length : 1)

/** The letter `i` among the flags of a group, or behind the closing slash. */
const ignoresCase = /\(\?[a-zA-Z]*i|\/[a-hj-z]*i[a-z]*$/
const isClass = (text: string): boolean => text.startsWith('[') || /^\\p/i.test(text)

/** The cost of reading a class of Unicode's, and how much more than a letter each repeat of it costs. */
const readsBigClass = 50
const perBigClass = 5
const bigClasses = (text: string): number => [...text.matchAll(/\\p/gi)].length + Math.floor(text.length / 100)

const item = String.raw`\\x\{([0-9a-f]+)\}|\\x([0-9a-f]{2})|\\?([\s\S])`
const range = new RegExp(`(?:${item})-(?:${item})`, 'giu')
/** So many characters whose other cases are looked for take as long as one instruction. */
const foldedAtOnce = 40

function readingOf(text: string, folds: boolean): number {
  const classes = bigClasses(text) * readsBigClass
  if (!folds) return classes
  const widths = [...text.matchAll(range)].map(([, ...ends]) => codeOf(ends.slice(3, 6)) - codeOf(ends.slice(0, 3)))
  return classes + widths.reduce((sum, width) => sum + Math.max(0, width), 0) / foldedAtOnce
}

const codeOf = ([long, short, char]: readonly (string | undefined)[]): number =>
  char === undefined ? Number.parseInt(long ?? short ?? '0', 16) : (char.codePointAt(0) ?? 0)
