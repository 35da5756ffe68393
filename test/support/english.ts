// The sentences of comments and documents, and those that break a rule of plain English.

export interface Comment {
  /** The line on which it begins, from 1. */
  readonly line: number
  /** Its words on one line, without the marks of the comment. */
  readonly text: string
}

/** Returns the comments of a TypeScript file; `//` lines that follow each other are one comment. */
export function commentsOf(source: string): readonly Comment[] {
  const comments: { line: number; last: number; text: string }[] = []
  let block: { line: number; last: number; text: string } | undefined
  for (const [at, line] of source.split('\n').entries()) {
    if (block) {
      block.text += ` ${line.replace(/^\s*\*? ?/, '').replace(/\*\/.*$/, '')}`
      if (line.includes('*/')) block = undefined
      continue
    }
    const opening = /^\s*\/\*\*? ?(.*)$/.exec(line)?.[1]
    if (opening !== undefined) {
      const comment = { line: at + 1, last: 0, text: opening.replace(/ ?\*\/.*$/, '') }
      comments.push(comment)
      if (!opening.includes('*/')) block = comment
      continue
    }
    const words = /(?:^|\s)\/\/ (.*)$/.exec(line)?.[1]
    if (words === undefined) continue
    const before = comments.at(-1)
    if (before?.last === at && /^\s*\/\//.test(line)) {
      before.text += ` ${words}`
      before.last = at + 1
    } else comments.push({ line: at + 1, last: at + 1, text: words })
  }
  return comments.map(({ line, text }) => ({ line, text: text.replaceAll(/\s+/g, ' ').trim() }))
}

/** Returns the sentences of a Markdown page, one paragraph, list entry or table row each, without its code. */
export const paragraphsOf = (page: string): readonly string[] =>
  page
    .replaceAll(/^ *```[^]*?^ *```/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim())

/** Words for people: only people tell, say, hear and know. */
const people =
  `(?:people|persons?|humans?|operators?|users?|admins?|administrators?|readers?|writers?|members?|owners?|developers?|authors?|
  auditors?|newcomers?|holders?|visitors?|vendors?|makers?|you|we|they|he|she)`.replaceAll(/\s/g, '')

/** The rules, and the words that break each. */
export const rules = {
  'opens with Of, In or By in place of a noun': /(?:^|[.:;] )(?:Of\b|(?:In|By) (?:[^\s.:,;]+ ?){1,4}(?:[.:;]|$))/g,
  'has a bare who, whoever, what or whatever': new RegExp(
    String.raw`\b(?:what|whatever|whoever|whomever)\b|(?<!\b(?:${people}|those|one|anyone|callers?|clients?)[,)]? )\bwhom?\b`,
    'gi',
  ),
  'lets code tell, say, hear or know': new RegExp(
    String.raw`(?<!\b${people}(?: \w+)? )\b(?:tell|tells|told|telling|say|says|said|saying|hear|hears|heard|hearing|know|knows|knew|knowing)\b`,
    'gi',
  ),
  'has nobody, somebody, everybody or nothing as an actor': /\b(?:nobody|somebody|anybody|everybody|nothing)\b/gi,
} as const

/** Returns the number of times that a text breaks a rule; quoted words and code do not count. */
export const breaksOf = (rule: RegExp, text: string): number => {
  if (text.search(rule) < 0) return 0
  return [...text.replaceAll(/`[^`]*`|"[^"]*"|“[^”]*”/g, '``').matchAll(rule)].length
}

const nouns =
  /^(?:Beginning|Bound|Embedding|Encoding|Feed|Finding|Hashing|Mapping|Pricing|Rating|Reasoning|Routing|Rounding|Setting|Spelling|Spending)$/
const irregular =
  `Asked Begun Brought Built Chosen Cut Done Drawn Found Given Gone Heard Held Kept Known Lost Made Meant Put Read Said Seen Sent
  Shown Spent Spoken Taken Told Undone Understood Written Rewritten`.split(/\s+/)
const others = 'About Again Ahead Alike Around Back Behind Beside Between Early Near Of Once One Own Until Usual Where'.split(' ')

/** Returns whether a name of a type is a participle, a gerund or no noun at all, as `Told`, `Waiting` and `Beside` are. */
export const isNoNoun = (name: string): boolean =>
  !nouns.test(name) && (/^[A-Z][a-z]*(?:ed|ing)$/.test(name) || irregular.includes(name) || others.includes(name))
