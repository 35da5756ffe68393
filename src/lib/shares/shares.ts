/** The places of a shared bound: all owners together have so many, and one owner alone has fewer. */
export interface Bound {
  readonly most: number
  readonly mostOfOne: number
}

/** The places that are taken. An owner is an organisation; null is Gatehouse itself, which is held to the bound of all alone. */
export interface Shares {
  /** Takes a place. Returns false when the owner has its share already, or no place is free. */
  readonly take: (owner: string | null) => boolean
  /** Takes back a place that was taken. */
  readonly giveBack: (owner: string | null) => void
  /** Returns whether `take` would return true. */
  readonly hasPlace: (owner: string | null) => boolean
  readonly heldBy: (owner: string | null) => number
  readonly held: number
}

/** Returns the usual share of one owner: an eighth, and at least one place. */
export const eighthOf = (most: number): number => Math.max(1, Math.floor(most / 8))

/** Returns the shares of a bound, all of which are free. */
export function createShares({ most, mostOfOne }: Bound): Shares {
  const places = new Map<string | null, number>()
  let held = 0
  const heldBy = (owner: string | null): number => places.get(owner) ?? 0
  const hasPlace = (owner: string | null): boolean => held < most && (owner === null || heldBy(owner) < mostOfOne)
  return {
    heldBy,
    hasPlace,
    get held() {
      return held
    },
    take(owner) {
      if (!hasPlace(owner)) return false
      places.set(owner, heldBy(owner) + 1)
      held += 1
      return true
    },
    giveBack(owner) {
      const own = heldBy(owner)
      if (own === 0) return
      held -= 1
      if (own === 1) places.delete(owner)
      else places.set(owner, own - 1)
    },
  }
}
