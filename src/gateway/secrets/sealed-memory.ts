import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Seals texts by a key that only this process has, and that ends with it: neither swap nor a dump of a neighbour shows them. */
export interface SealedMemory {
  seal(text: string): Buffer
  open(sealed: Buffer): string
}

const nonceBytes = 12
const tagBytes = 16

export function createSealedMemory(): SealedMemory {
  const key = randomBytes(32)
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), data])
    },
    open(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8')
    },
  }
}
