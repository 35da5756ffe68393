import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Place } from './vault.ts'

/** A 256-bit key and the number by which a sealed value names it. */
export interface SealingKey {
  readonly version: number
  readonly bytes: Uint8Array
}

const format = 1
const ivAt = 5
const tagAt = 17
const dataAt = 33

/** AES-256-GCM. The value is format (1 byte) | key version (4) | nonce (12) | tag (16) | data, and opens only at the place it was sealed for. */
export function seal(key: SealingKey, place: Place, plaintext: Uint8Array): Buffer {
  const iv = randomBytes(tagAt - ivAt)
  const cipher = createCipheriv('aes-256-gcm', key.bytes, iv).setAAD(additionalData(place, key.version))
  const data = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const head = Buffer.alloc(ivAt)
  head.writeUInt8(format, 0)
  head.writeUInt32BE(key.version, 1)
  return Buffer.concat([head, iv, cipher.getAuthTag(), data])
}

/** Throws when the value was changed, moved to another place, or sealed with another key. */
export function open(key: SealingKey, place: Place, sealed: Uint8Array): Buffer {
  if (keyVersionOf(sealed) !== key.version) throw new Error('the value was sealed with another key')
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, sealed.subarray(ivAt, tagAt), { authTagLength: dataAt - tagAt })
    .setAAD(additionalData(place, key.version))
    .setAuthTag(sealed.subarray(tagAt, dataAt))
  return Buffer.concat([decipher.update(sealed.subarray(dataAt)), decipher.final()])
}

/** The number of the key that opens a sealed value. */
export function keyVersionOf(sealed: Uint8Array): number {
  if (sealed.length < dataAt || sealed[0] !== format) throw new Error('this is no sealed value, or one of a newer format')
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length).readUInt32BE(1)
}

/** Each part with its length before it, so that no two places share an encoding. */
function additionalData({ table, column, rowId, organisationId }: Place, version: number): Buffer {
  const parts = [table, column, rowId, organisationId, String(version)].map((part) => Buffer.from(part))
  return Buffer.concat(parts.flatMap((part) => [uint32(part.length), part]))
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
