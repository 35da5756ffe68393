import { hash } from 'node:crypto'

export const dimensions = 256

/**
 * The vector of a text: each word moves it along a few axes of its own, by its hash. So texts are as alike as the words that they share are many, in
 * any order, which is roughly the way of embeddings.
 */
export function wordVector(text: string): readonly number[] {
  const vector = Array.from({ length: dimensions }, () => 0)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const bytes = hash('sha256', word, 'buffer')
    for (let axis = 0; axis < 8; axis += 1)
      vector[bytes[axis] ?? 0] = (vector[bytes[axis] ?? 0] ?? 0) + ((bytes[axis + 8] ?? 0) % 2 === 0 ? 1 : -1)
  }
  return vector
}
