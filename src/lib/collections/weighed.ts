/** A cache of recently used entries, bounded by weight: for all owners together, and for each. */
export interface WeightedCache<T> {
  get(owner: string, key: string): T | undefined
  set(owner: string, key: string, entry: Entry<T>): void
  /** Returns the weight of all that is kept. */
  weight(): number
  /** Drops one entry. */
  remove(owner: string, key: string): void
  /** Drops all that one owner has. */
  forget(owner: string): void
}

interface Entry<T> {
  readonly value: T
  readonly weight: number
}

interface OwnerEntries<T> {
  /** Ordered by use; the last entry was used most recently. */
  readonly entries: Map<string, Entry<T>>
  weight: number
}

export interface Bounds {
  readonly most: number
  readonly mostOfOne: number
}

/**
 * Creates an empty cache. Over the common bound, an entry of the owner with the most weight is evicted. An entry heavier than the bound of an owner
 * is not kept.
 */
export function createWeighed<T>({ most, mostOfOne }: Bounds): WeightedCache<T> {
  const owners = new Map<string, OwnerEntries<T>>()
  let weight = 0

  function drop(owner: string, own: OwnerEntries<T>, key: string): void {
    const entry = own.entries.get(key)
    if (entry === undefined) return
    own.entries.delete(key)
    own.weight -= entry.weight
    weight -= entry.weight
    if (own.entries.size === 0) owners.delete(owner)
  }

  function dropOldest(owner: string, own: OwnerEntries<T>): void {
    const [oldest] = own.entries.keys()
    if (oldest !== undefined) drop(owner, own, oldest)
  }

  return {
    get(owner, key) {
      const own = owners.get(owner)
      const found = own?.entries.get(key)
      if (own === undefined || found === undefined) return undefined
      // The order matters only near the bounds.
      if (own.weight * 2 > mostOfOne || weight * 2 > most) {
        own.entries.delete(key)
        own.entries.set(key, found)
      }
      return found.value
    },
    set(owner, key, entry) {
      if (entry.weight > mostOfOne) return
      const own = owners.get(owner) ?? { entries: new Map<string, Entry<T>>(), weight: 0 }
      drop(owner, own, key)
      while (own.weight + entry.weight > mostOfOne) dropOldest(owner, own)
      while (weight + entry.weight > most) dropOldest(...heaviest(owners))
      owners.set(owner, own)
      own.entries.set(key, entry)
      own.weight += entry.weight
      weight += entry.weight
    },
    remove(owner, key) {
      const own = owners.get(owner)
      if (own !== undefined) drop(owner, own, key)
    },
    weight: () => weight,
    forget(owner) {
      weight -= owners.get(owner)?.weight ?? 0
      owners.delete(owner)
    },
  }
}

function heaviest<T>(owners: ReadonlyMap<string, OwnerEntries<T>>): [owner: string, own: OwnerEntries<T>] {
  return [...owners].reduce((one, other) => (other[1].weight > one[1].weight ? other : one))
}
