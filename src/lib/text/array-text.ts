/**
 * Returns texts as PostgreSQL reads an array. In quotes only `"` and `\` mean something else: JSON would write a tab as `\t`, which PostgreSQL
 * reads as the letter t.
 */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`
