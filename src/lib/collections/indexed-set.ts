/** A member of an indexed set. */
export interface Member {
  /** The index at which it stands in its set; -1: in none. Only the set writes it. */
  slot: number
}

/** Those who are there now, in no order. */
export interface IndexedSet<T extends Member> extends Iterable<T> {
  add(member: T): void
  /** No effect when it is not there. */
  remove(member: T): void
}

/**
 * Not a `Set`, because members come and go thousands of times a second: a `Set` makes a new table every few dozen of them, and in V8
 * an old table points at the next one. Once one has grown old, all that ever stood in its successors outlives its time until a full
 * collection, which costs more than serving the requests.
 */
export function createIndexedSet<T extends Member>(): IndexedSet<T> {
  const members: T[] = []
  return {
    add(member) {
      member.slot = members.push(member) - 1
    },
    remove(member) {
      const { slot } = member
      if (slot === -1) return
      member.slot = -1
      const last = members.pop()
      if (last === undefined || last === member) return
      members[slot] = last
      last.slot = slot
    },
    [Symbol.iterator]: () => members.slice().values(),
  }
}
