type Owner = string | null

/** Things that wait, each for its owner. Owners take turns, however many things of theirs wait. */
export interface FairLine<T> {
  add(owner: Owner, item: T): void
  /** Takes out an item that waits no longer. */
  delete(owner: Owner, item: T): void
  /** Takes out the item that waits longest of the owner whose turn it is, among those that may go. */
  next(mayGo?: (owner: Owner) => boolean): T | undefined
  waitingOf(owner: Owner): number
  /** Returns the owners of waiting work. */
  owners(): Iterable<Owner>
  readonly size: number
  /** Takes out all items, and returns them. */
  clear(): readonly T[]
}

/** Returns an empty line. */
export function createFairLine<T>(): FairLine<T> {
  const owners = new Map<Owner, Set<T>>()
  let size = 0

  function remove(owner: Owner, item: T): void {
    const own = owners.get(owner)
    if (own === undefined || !own.delete(item)) return
    size -= 1
    if (own.size === 0) owners.delete(owner)
  }

  return {
    get size() {
      return size
    },
    waitingOf: (owner) => owners.get(owner)?.size ?? 0,
    owners: () => owners.keys(),
    add(owner, item) {
      const own = owners.get(owner) ?? new Set<T>()
      if (!own.has(item)) size += 1
      own.add(item)
      owners.set(owner, own)
    },
    delete: remove,
    next(mayGo = () => true) {
      for (const [owner, own] of owners) {
        const [item] = own
        if (item === undefined || !mayGo(owner)) continue
        remove(owner, item)
        // The owner goes behind the others.
        if (owners.delete(owner)) owners.set(owner, own)
        return item
      }
      return undefined
    },
    clear() {
      const all: T[] = []
      for (const own of owners.values()) all.push(...own)
      owners.clear()
      size = 0
      return all
    },
  }
}
