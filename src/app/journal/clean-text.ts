/** U+FFFD, which stands for a character that cannot be shown. */
const replacement = '\uFFFD'

/** PostgreSQL's text cannot hold U+0000. A lone surrogate becomes U+FFFD when the text is encoded. */
export const cleanText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', replacement) : text)

/** The escapes that jsonb refuses: U+0000 and, when alone, surrogates. A match may be harmless; then cleaning changes nothing. */
const refused = /\\u(?:0000|d[89a-f])/i

/** JSON text that jsonb takes, whatever the strings hold. */
export function toCleanJson(value: Readonly<Record<string, string | number>>): string {
  const text = JSON.stringify(value)
  return refused.test(text) ? JSON.stringify(cleanEntries(value)) : text
}

const cleanEntries = (value: Readonly<Record<string, string | number>>) =>
  Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [wellFormed(name), typeof entry === 'string' ? wellFormed(entry) : entry]),
  )

const wellFormed = (text: string) => cleanText(text.toWellFormed())
