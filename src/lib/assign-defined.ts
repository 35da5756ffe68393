/** Sets on `target` what `changes` names: undefined leaves a field alone, null clears it. */
export function assignDefined<T extends object>(target: T, changes: { readonly [K in keyof T]?: T[K] | undefined }): void {
  for (const name in changes) {
    const value = changes[name]
    if (value !== undefined) target[name] = value
  }
}
