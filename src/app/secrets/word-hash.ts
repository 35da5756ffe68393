import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/** Names words of logs by keyed hashes: from the database alone the words can neither be read nor be compared between organisations. */
export interface WordHash {
  /** Returns a hash of 32 bits, signed as the database has it. */
  of(organisationId: string, word: string): number
}

/** So many keys, and hashes of one organisation, are kept: most words come again and again. */
const mostKept = { organisations: 256, words: 20_000 }

interface WordHashes {
  readonly key: KeyObject
  readonly hashes: Map<string, number>
}

/** A hash under the log key of this installation: 32 bytes. */
export function createWordHash(logKey: Uint8Array): WordHash {
  const organisations = new Map<string, WordHashes>()
  const knownOf = (organisationId: string): WordHashes => {
    const found = organisations.get(organisationId)
    if (found !== undefined) return found
    if (organisations.size >= mostKept.organisations) organisations.clear()
    const key = createSecretKey(new Uint8Array(hkdfSync('sha256', logKey, '', `gatehouse log words 1 ${organisationId}`, 32)))
    const known: WordHashes = { key, hashes: new Map() }
    organisations.set(organisationId, known)
    return known
  }
  return {
    of(organisationId, word) {
      const { key, hashes } = knownOf(organisationId)
      const found = hashes.get(word)
      if (found !== undefined) return found
      const made = createHmac('sha256', key).update(word).digest().readInt32BE(0)
      if (hashes.size >= mostKept.words) hashes.clear()
      hashes.set(word, made)
      return made
    },
  }
}
