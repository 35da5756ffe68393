import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../../lib/json/json.ts'

/** Tokens that only the gateway can make and read, in any replica: state that its clients keep. */
export interface Sealer {
  /** Seals facts for a time. */
  seal(kind: TokenKind, facts: Fields, lifeMs: number): string
  /** Returns the facts of a token; null: it is none of ours, of another kind, or its time is over. */
  open(kind: TokenKind, token: string): Fields | null
}

/** A session of a legacy client, a call that waits for its client, and the state of a modern server. */
export type TokenKind = 'session' | 'held' | 'state'

const version = 'gh1.'
const [ivBytes, tagBytes] = [12, 16]
/** A longer one is none of ours. */
const longestToken = 256 * 1024

/** Makes tokens under a key that all replicas have. `now`: epoch milliseconds. */
export function createSealer(secret: Uint8Array, now: () => number): Sealer {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'gatehouse mcp tokens 1', 32))
  return {
    seal(kind, facts, lifeMs) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(kind))
      const data = Buffer.concat([cipher.update(JSON.stringify({ ...facts, until: now() + lifeMs })), cipher.final()])
      return version + Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64url')
    },
    open(kind, token) {
      const facts = token.startsWith(version) && token.length <= longestToken ? opened(key, kind, token) : null
      return facts !== null && typeof facts['until'] === 'number' && facts['until'] > now() ? facts : null
    },
  }
}

function opened(key: Uint8Array, kind: TokenKind, token: string): Fields | null {
  const bytes = Buffer.from(token.slice(version.length), 'base64url')
  if (bytes.length < ivBytes + tagBytes) return null
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(kind))
      .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
    const facts = jsonOrUndefined(text)
    return isFields(facts) ? facts : null
  } catch {
    return null
  }
}
