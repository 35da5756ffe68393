/** The bytes that all connections hold of one kind. */
export interface SharedBytes {
  /** Returns false if there is no room for more of an organisation. */
  take(organisationId: string, bytes: number): boolean
  give(organisationId: string, bytes: number): void
}

/** The bytes that one connection holds, for its organisation. */
export interface HeldBytes {
  /** Returns false if there is no room. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** Returns the bound of a process, of which one organisation gets a quarter. */
export function shareBytes(most: number): SharedBytes {
  const held = new Map<string, number>()
  let total = 0
  return {
    take(organisationId, bytes) {
      const own = (held.get(organisationId) ?? 0) + bytes
      if (total + bytes > most || own > most / 4) return false
      held.set(organisationId, own)
      total += bytes
      return true
    },
    give(organisationId, bytes) {
      const own = (held.get(organisationId) ?? 0) - bytes
      if (own > 0) held.set(organisationId, own)
      else held.delete(organisationId)
      total -= bytes
    },
  }
}

export const heldBy = (bytes: SharedBytes, organisationId: string): HeldBytes => ({
  take: (count) => bytes.take(organisationId, count),
  give: (count) => bytes.give(organisationId, count),
})
