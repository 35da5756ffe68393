import { createHmac, randomBytes } from 'node:crypto'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(letters.length)

/** A key of this process alone. */
const key = randomBytes(32)

/** Returns an id of up to 42 letters and digits: the same for the same text as long as the process runs, and unpredictable for any other process. */
export function keyedId(text: string, length: number): string {
  let rest = BigInt(`0x${createHmac('sha256', key).update(text).digest('hex')}`)
  let id = ''
  for (let at = 0; at < length; at += 1) {
    id += letters[Number(rest % base)] ?? '0'
    rest /= base
  }
  return id
}
