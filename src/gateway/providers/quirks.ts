import type { Quirks } from './provider.ts'

export type Body = Readonly<Record<string, unknown>>

/** Bends a dialect's body to one provider. Returns a new body; the input is never touched. A name the provider knows wins over a renamed one. */
export function applyQuirks(body: Body, quirks: Quirks): Body {
  const bent: [string, unknown][] = []
  for (const [name, value] of Object.entries(body)) {
    if (quirks.drop?.includes(name) === true) continue
    const renamed = own(quirks.rename, name)
    if (renamed !== undefined && Object.hasOwn(body, renamed)) continue
    const target = renamed ?? name
    bent.push([target, bound(value, own(quirks.clamp, target))])
  }
  return Object.fromEntries(bent)
}

/** Returns true if `applyQuirks` would change this body; otherwise the original bytes can be sent. */
export function quirksTouch(body: Body, { drop, rename, clamp }: Quirks): boolean {
  return (
    drop?.some((name) => Object.hasOwn(body, name)) === true ||
    Object.keys(rename ?? {}).some((name) => Object.hasOwn(body, name)) ||
    Object.entries(clamp ?? {}).some(([name, range]) => Object.hasOwn(body, name) && bound(body[name], range) !== body[name])
  )
}

/** Only a table's own rows count: a body field called `constructor` is a plain field. */
function own<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

function bound(value: unknown, range: readonly [min: number, max: number] | undefined): unknown {
  if (range === undefined || typeof value !== 'number') return value
  return Math.min(Math.max(value, range[0]), range[1])
}
