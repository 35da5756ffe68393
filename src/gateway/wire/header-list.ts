/** Returns a flat header list as a record by lower-case name; repeated values are joined by a comma. */
export function headerRecord(list: readonly string[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>()
  for (let i = 0; i < list.length; i += 2) {
    const name = (list[i] ?? '').toLowerCase()
    const held = values.get(name)
    values.set(name, held === undefined ? (list[i + 1] ?? '') : `${held}, ${list[i + 1] ?? ''}`)
  }
  return Object.fromEntries(values)
}
