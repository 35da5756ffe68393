/** Sets on `target` what `changes` names: undefined leaves a field alone, null clears it. */
export function assignDefined<T extends object>(target: T, changes: { readonly [K in keyof T]?: T[K] | undefined }): void {
  for (const name in changes) {
    const value = changes[name]
    if (value !== undefined) target[name] = value
  }
}

type Fields = Readonly<Record<string, unknown>>

/** An object of fields as a PUT changes it: absent fields stay, null clears one, null for the whole clears all; undefined when nothing is said. */
export function mergeFields(before: Fields, change: Fields | null | undefined): Record<string, unknown> | undefined {
  if (change === undefined) return undefined
  if (change === null) return {}
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== null && value !== undefined))
}
