/** The bounds of a record's `postgres`, such as `>=14 <19`: major versions from `least` on, and `below` no more. */
export function majorsIn(range: string): { readonly least: number; readonly below: number } {
  const [, least, below] = /^>=(\d+) <(\d+)$/.exec(range) ?? []
  if (least === undefined || below === undefined) throw new RangeError(`${range} is no range: write >=14 <19`)
  return { least: Number(least), below: Number(below) }
}
