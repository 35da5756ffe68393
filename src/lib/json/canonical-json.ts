/** JSON with the keys of every object in order: equal values give equal texts, also after a detour through a jsonb column. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child) ? inOrder(child) : child,
  )
}

function inOrder(value: object): object {
  const names = Object.keys(value)
  // Without a comparator they are compared as `<` compares texts, and nothing is made for each pair.
  return isOrdered(names) ? value : Object.fromEntries(names.toSorted().map((name) => [name, Reflect.get(value, name)]))
}

function isOrdered(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at += 1) if ((names[at - 1] ?? '') > (names[at] ?? '')) return false
  return true
}
