import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto'

/** The row of a log: a value that is sealed for it opens for no other. */
export interface LogPlace {
  readonly id: string
  readonly organisationId: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Seals and opens confidential log data. Both are synchronous: sealing is part of an append. */
export interface LogSeal {
  /** Seals the parts as one text; returns the pieces of the sealed value in their order. */
  seal(place: LogPlace, parts: readonly Uint8Array[]): readonly Uint8Array[]
  /** Throws a SealError when the value was changed, belongs to another row, or was sealed with another log key. */
  open(place: LogPlace, sealed: Uint8Array): Buffer
}

/** The reason why a sealed value does not open. */
export class SealError extends Error {}

/**
 * A sealed value: format (1 byte) | name of the log key (8) | salt (16) | count (8) | tag (16) | data, by AES-256-GCM. Each run of a process takes a
 * random salt, and derives one key for each organisation from it. The nonce is the count of the values that this run sealed, so that no pair of key
 * and nonce comes twice, and no request pays for a derivation. Before the count stands the time of the log: where a machine was copied while it ran,
 * two processes go on with one salt and one count.
 */
const format = 1
const at = { keyName: 1, salt: 9, count: 25, tag: 33, data: 49 } as const
const nonceBytes = 12
const countAt = 4
/** GCM's bound for one key, with a wide margin; then there is another salt. */
const sealsOfOneSalt = 2 ** 31
/** The number of derived keys that are kept. */
const mostKeys = 4096
/** Parts that fit are sealed in one go. */
const scratchBytes = 64 * 1024

/** A seal under the log key of this installation: 32 bytes. */
export function createLogSeal(logKey: Uint8Array): LogSeal {
  const master = createSecretKey(logKey)
  const keyName = createHmac('sha256', logKey)
    .update('gatehouse log key name 1')
    .digest()
    .subarray(0, at.salt - at.keyName)
  const opening = createDerivation(master)
  const scratch = Buffer.allocUnsafeSlow(scratchBytes)
  const nonce = Buffer.alloc(nonceBytes)
  let run = { salt: randomBytes(at.count - at.salt), derive: createDerivation(master), count: 0 }

  return {
    seal(place, parts) {
      if (run.count >= sealsOfOneSalt) run = { salt: randomBytes(at.count - at.salt), derive: createDerivation(master), count: 0 }
      run.count += 1
      const head = Buffer.allocUnsafe(at.data)
      head[0] = format
      head.set(keyName, at.keyName)
      head.set(run.salt, at.salt)
      head.writeBigUInt64BE(BigInt(run.count), at.count)
      nonce.writeUInt32BE(lowTime(place), 0)
      head.copy(nonce, countAt, at.count, at.tag)
      const cipher = createCipheriv('aes-256-gcm', run.derive(run.salt, place.organisationId), nonce).setAAD(additionalData(place))
      const data = inOnePiece(scratch, parts).map((part) => cipher.update(part))
      cipher.final()
      head.set(cipher.getAuthTag(), at.tag)
      return [head, ...data]
    },
    open(place, sealed) {
      const value = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length)
      if (value.length < at.data || value[0] !== format) throw new SealError('it is no sealed value, or one of a newer format')
      if (!value.subarray(at.keyName, at.salt).equals(keyName)) throw new SealError('it was sealed with another log key')
      const key = opening(value.subarray(at.salt, at.count), place.organisationId)
      const iv = Buffer.alloc(nonceBytes)
      iv.writeUInt32BE(lowTime(place), 0)
      value.copy(iv, countAt, at.count, at.tag)
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: at.data - at.tag })
          .setAAD(additionalData(place))
          .setAuthTag(value.subarray(at.tag, at.data))
        return Buffer.concat([decipher.update(value.subarray(at.data)), decipher.final()])
      } catch (error) {
        throw new SealError('it was changed, or belongs to another log', { cause: error })
      }
    },
  }
}

/** Returns the additional data of a row. It has a fixed length but for the time at its end, so that no two rows share it. */
const additionalData = ({ id, organisationId, createdAt }: LogPlace): Buffer =>
  Buffer.from(`log_bodies\n${organisationId}\n${id}\n${Math.round(createdAt)}`)

/** The lower 32 bits of the time. */
const lowTime = ({ createdAt }: LogPlace): number => Math.round(createdAt) >>> 0

/** Derives the key of one organisation under a salt, once. */
function createDerivation(master: KeyObject): (salt: Uint8Array, organisationId: string) => KeyObject {
  const known = new Map<string, KeyObject>()
  return (salt, organisationId) => {
    const name = `${organisationId} ${Buffer.from(salt.buffer, salt.byteOffset, salt.length).toString('latin1')}`
    const key =
      known.get(name) ?? createSecretKey(new Uint8Array(hkdfSync('sha256', master, salt, `gatehouse log 1 ${organisationId}`, 32)))
    if (known.size >= mostKeys) known.clear()
    known.set(name, key)
    return key
  }
}

/** Copies small parts together, because a call of the cipher costs more than the copy. */
function inOnePiece(scratch: Buffer, parts: readonly Uint8Array[]): readonly Uint8Array[] {
  let end = 0
  for (const part of parts) {
    if (end + part.length > scratch.length) return parts
    scratch.set(part, end)
    end += part.length
  }
  return [scratch.subarray(0, end)]
}
