/** Stored pairs as texts; none when they are no object. */
export const stringsOf = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {}
