/** Returns how many values a JSON value holds, itself among them; more than `most` are not counted. */
export function valuesIn(given: unknown, most: number): number {
  let count = 0
  const open = [given]
  while (open.length > 0 && count <= most) {
    const value = open.pop()
    count += 1
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) open.push(one)
  }
  return count
}
