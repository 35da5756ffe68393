/** A set of hashes that never forgets one and takes a few bits for each: a hash that it does not hold was never added. */
export interface BloomFilter {
  /** Takes 16 bytes at least that are as good as random. */
  add(hash: Uint8Array): void
  /** False: it was not put in. True: it was, or (once in some thousands) only looks so. */
  mayHold(hash: Uint8Array): boolean
  /** Returns true if it holds more than it was made for, so that it errs more often. */
  full(): boolean
}

/** With four places of 32 bits for each hash one in 5,000 is taken for one that was put in. */
const places = 4
const bitsEach = 32
const fewest = 4096

/** A filter for so many hashes. */
export function createBloomFilter(expected: number): BloomFilter {
  const capacity = 2 ** Math.ceil(Math.log2(Math.max(expected, fewest)))
  const words = new Uint32Array((capacity * bitsEach) / 32)
  const mask = words.length * 32 - 1
  let added = 0
  return {
    add(hash) {
      const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
      for (let place = 0; place < places; place += 1) {
        const bit = view.getUint32(place * 4) & mask
        words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31))
      }
      added += 1
    },
    mayHold(hash) {
      const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
      for (let place = 0; place < places; place += 1) {
        const bit = view.getUint32(place * 4) & mask
        if (((words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false
      }
      return true
    },
    full: () => added > capacity,
  }
}
