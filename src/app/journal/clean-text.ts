/** U+FFFD, which stands for a character that cannot be shown. */
const replacement = '\uFFFD'

/** PostgreSQL's text cannot hold U+0000. A lone surrogate becomes U+FFFD when the text is encoded. */
export const cleanText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', replacement) : text)

/** The escapes that jsonb refuses: U+0000 and, when alone, surrogates. A match may be harmless; then cleaning has no effect. */
const refused = /\\u(?:0000|d[89a-f])/i

/** JSON text that jsonb takes, for strings of any characters. */
export function toCleanJson(value: object): string {
  const text = JSON.stringify(value)
  return refused.test(text) ? JSON.stringify(cleanValue(value)) : text
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(cleanValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [wellFormed(name), cleanValue(entry)]))
}

const wellFormed = (text: string) => cleanText(text.toWellFormed())
