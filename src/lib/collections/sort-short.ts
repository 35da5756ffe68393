/** From this length on the runtime's sort is faster. */
const short = 32

/** Returns a list sorted, a short one in place; equal members keep their order. The runtime's sort makes several lists of its own, which short ones are not worth. */
export function sortShort<T>(list: T[], isBefore: (one: T, other: T) => boolean): T[] {
  if (list.length > short) return list.toSorted((one, other) => (isBefore(one, other) ? -1 : isBefore(other, one) ? 1 : 0))
  for (let end = 1; end < list.length; end += 1) {
    for (let at = end; at > 0; at -= 1) {
      const [one, other] = [list[at - 1], list[at]]
      if (one === undefined || other === undefined || !isBefore(other, one)) break
      list[at - 1] = other
      list[at] = one
    }
  }
  return list
}
