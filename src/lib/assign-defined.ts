/** Sets on `target` the fields that `changes` names: undefined leaves a field alone, null clears it. */
export function assignDefined<T extends object>(target: T, changes: { readonly [K in keyof T]?: T[K] | undefined }): void {
  for (const name in changes) {
    const value = changes[name]
    if (value !== undefined) target[name] = value
  }
}

type FieldChanges<T> = { readonly [K in keyof T]?: T[K] | null | undefined }

/** An object of fields as a PUT changes it: absent fields stay, null clears one, null for the whole clears all; undefined changes no field. */
export function mergeFields<T extends object>(before: T, change: FieldChanges<T> | null | undefined): Partial<T> | undefined {
  if (change === undefined) return undefined
  if (change === null) return {}
  const merged: Partial<T> = { ...before }
  for (const name in change) {
    const value = change[name]
    if (value === null) delete merged[name]
    else if (value !== undefined) merged[name] = value
  }
  return merged
}
