import { uriForms, type UriForm } from './uri-forms.ts'

/** A longer name is compared with no other. */
export const longestName = 8192

/** Letters without a sign, which readers leave out: control letters, joiners, soft hyphens, marks of direction, selectors of variations. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu
const plain = /^[\u0020-\u007e]*$/
/** Marks on letters. To bring marks of one letter into order takes the square of their number, so that no more are brought. */
const marks = String.raw`[\p{M}\u0e33\u0eb3\uff9e\uff9f]`
/** More than a name of a rule may have: it has no form then. */
const mostMarks = new RegExp(`${marks}{31}`, 'u')
/** More than a name that is asked may have. Each stands for three at most, so that none is a form of a name that has too many for a rule. */
const tooManyMarks = new RegExp(`${marks}{10}`, 'u')
/** Readers in C end a text at the first, and readers of lines at the others. */
const ends = /[\0\r\n]/
/** A segment that leads to another place: readers of addresses follow it in their own ways, also behind a backslash. */
const dotSegment = /(?:^|[/\\])\.{1,2}(?:[/\\?#;]|$)/
/** A dot, a slash or another letter of ASCII in more bytes than UTF-8 has for it. */
const overlong = /%c[01]%[89ab]/i
/** A reader that decodes more often than this is none that is known. */
const mostDecodings = 3

/** The texts that readers may take a name, or an address, for. */
export interface Likenesses<Form> {
  readonly forms: readonly Form[]
  /** False: readers may take it for others, which cannot be told. */
  readonly isWhole: boolean
}

/**
 * Returns a name without the differences that a reader may overlook: case, width, letters without a sign, and blanks around it. A name
 * with too many marks on one letter has the empty one.
 */
export function likeness(name: string): string {
  if (plain.test(name)) return name.toLowerCase().trim()
  const seen = name.replaceAll(unseen, '')
  if (mostMarks.test(seen)) return ''
  // Readers compare in small letters or in capitals: `ß` and `ss` are alike in one of them, `ı` and `i` too.
  const normal = seen.normalize('NFKC')
  const cased = normal.toUpperCase().toLowerCase()
  const folded = cased === normal ? normal : cased.normalize('NFKC')
  return folded.replaceAll('i\u0307', 'i').replaceAll(unseen, '').trim()
}

/** Returns the texts that readers may take a name for: in its likeness, whole and up to an end of text within it. */
export function nameLikenesses(name: string): Likenesses<string> {
  const texts = textsOf(name)
  return { forms: [...new Set(texts.map(likeness))].filter((form) => form !== ''), isWhole: !texts.some(hasTooManyMarks) }
}

/**
 * Returns the addresses that readers may take one for: with its escapes decoded so often as readers do, up to an end of text within it, and without the
 * differences that a reader may overlook. Not whole: one with dots as
 * segments, with wide escapes, or with escapes in escapes. One function for rules and for what is asked: a rule may be
 * written in an unusual form too.
 */
export function uriLikenesses(uri: string): Likenesses<UriForm> {
  const found = new Map<string, UriForm>()
  let isWhole = true
  let texts: ReadonlySet<string> = new Set([uri])
  for (let decoded = 0; decoded <= mostDecodings; decoded += 1) {
    const next = new Set<string>()
    for (const text of [...texts].flatMap(textsOf)) {
      const folded = likeness(text)
      isWhole &&= !hasTooManyMarks(text) && !dotSegment.test(folded) && !overlong.test(folded) && escapesIn(folded) === escapesIn(text)
      for (const form of uriForms(folded)) found.set(JSON.stringify(form), form)
      // The text as it came: an end within it stays there until all is decoded.
      if (escapesIn(text) > 0) next.add(decodedOnce(text))
    }
    if (next.size === 0) return { forms: [...found.values()], isWhole }
    texts = next
  }
  return { forms: [...found.values()], isWhole: false }
}

const hasTooManyMarks = (text: string): boolean => !plain.test(text) && tooManyMarks.test(text.replaceAll(unseen, ''))

/** Returns a text, and its beginning up to the first end of text within it. */
function textsOf(text: string): readonly string[] {
  const trimmed = text.trim()
  const end = trimmed.search(ends)
  return end > 0 ? [trimmed, trimmed.slice(0, end)] : [trimmed]
}

const escapesIn = (text: string): number => text.match(/%[\da-f]{2}/gi)?.length ?? 0

const decodedOnce = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'))
