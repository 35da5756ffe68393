/** Returns the index of a weight with a chance in proportion to it; weights of 0 are never chosen. Null when all are 0. `random` is in [0, 1). */
export function pickByWeight(weights: readonly number[], random: number): number | null {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let left = random * total
  let last: number | null = null
  for (const [at, weight] of weights.entries()) {
    if (weight <= 0) continue
    if (left < weight) return at
    left -= weight
    last = at
  }
  return last
}
