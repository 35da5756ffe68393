import { createFairLine } from './fair-line.ts'

type Owner = string | null

/** Things that wait, each for its owner. The owner that has been charged least is next. */
export interface ChargedLine<T> {
  add(owner: Owner, item: T): void
  /** Takes out the item that waits longest of the owner whose turn it is. */
  next(): T | undefined
  charge(owner: Owner, amount: number): void
  readonly size: number
}

/** Returns an empty line. An owner that comes to it counts as charged with as much as the last that went. */
export function createChargedLine<T>(): ChargedLine<T> {
  const line = createFairLine<T>()
  const charged = new Map<Owner, number>()
  let level = 0
  const chargedTo = (owner: Owner): number => charged.get(owner) ?? level
  return {
    get size() {
      return line.size
    },
    add(owner, item) {
      if (line.waitingOf(owner) === 0) charged.set(owner, Math.max(chargedTo(owner), level))
      line.add(owner, item)
    },
    next() {
      const least = Math.min(...[...line.owners()].map(chargedTo))
      const item = line.next((owner) => chargedTo(owner) <= least)
      if (item !== undefined) level = least
      return item
    },
    charge(owner, amount) {
      // Without a line no owner has to give way to another.
      if (line.size === 0) charged.clear()
      else charged.set(owner, chargedTo(owner) + amount)
    },
  }
}
