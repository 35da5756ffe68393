import { setImmediate } from 'node:timers/promises'

/**
 * SHA-256 (FIPS 180-4) whose state can be stored between two pieces: the next piece of a file may be made by another process, and Node gives
 * no state of its hashes out.
 */

const primes = Array.from({ length: 310 }, (_, at) => at + 2).filter((one, _, all) => !all.some((by) => by * by <= one && one % by === 0))
const firstBits = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) >>> 0

const rounds = 64
// Signed words all through: of unsigned ones the engine makes floating-point numbers.
const constants = Int32Array.from(primes.slice(0, rounds), (prime) => firstBits(Math.cbrt(prime)))
const initial = Int32Array.from(primes.slice(0, 8), (prime) => firstBits(Math.sqrt(prime)))

const blockBytes = 64
const word = (words: Int32Array, at: number): number => words[at] ?? 0
const turned = (value: number, by: number): number => (value >>> by) | (value << (32 - by))

/** Takes the block at an offset into the eight words. `schedule` is room for 64 words. */
function compress(words: Int32Array, schedule: Int32Array, { block, offset }: { readonly block: DataView; readonly offset: number }): void {
  for (let t = 0; t < 16; t++) schedule[t] = block.getInt32(offset + t * 4)
  for (let t = 16; t < rounds; t++) {
    const near = word(schedule, t - 2)
    const far = word(schedule, t - 15)
    const mixedNear = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10)
    const mixedFar = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3)
    schedule[t] = (mixedNear + word(schedule, t - 7) + mixedFar + word(schedule, t - 16)) | 0
  }
  let a = word(words, 0)
  let b = word(words, 1)
  let c = word(words, 2)
  let d = word(words, 3)
  let e = word(words, 4)
  let f = word(words, 5)
  let g = word(words, 6)
  let h = word(words, 7)
  for (let t = 0; t < rounds; t++) {
    const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + word(constants, t) + word(schedule, t)) | 0
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const after = [a, b, c, d, e, f, g, h]
  for (let index = 0; index < after.length; index++) words[index] = word(words, index) + (after[index] ?? 0)
}

/** The state of a hash: the words, how many bytes there were, and those of them that fill no block yet. */
interface State {
  readonly words: Int32Array
  readonly length: number
  readonly rest: Uint8Array
}

const start: State = { words: initial, length: 0, rest: new Uint8Array(0) }

function taken({ words: before, length, rest }: State, bytes: Uint8Array): State {
  const words = Int32Array.from(before)
  const schedule = new Int32Array(rounds)
  const all = Buffer.concat([rest, bytes])
  const whole = all.length - (all.length % blockBytes)
  const block = new DataView(all.buffer, all.byteOffset, whole)
  for (let offset = 0; offset < whole; offset += blockBytes) compress(words, schedule, { block, offset })
  return { words, length: length + bytes.length, rest: all.subarray(whole) }
}

const wordsText = (words: Int32Array): string => Array.from(words, (value) => (value >>> 0).toString(16).padStart(8, '0')).join('')

const textOf = ({ words, length, rest }: State): string => `${wordsText(words)}.${length}.${Buffer.from(rest).toString('base64')}`

function stateOf(text: string): State {
  const [words = '', length = '', rest = ''] = text.split('.')
  return {
    words: Int32Array.from({ length: 8 }, (_, at) => Number.parseInt(words.slice(at * 8, at * 8 + 8), 16)),
    length: Number(length),
    rest: Buffer.from(rest, 'base64'),
  }
}

/** Bytes that are hashed at a time: other work of the process goes on in between. */
const atOnce = 256 * 1024

/** Returns the state, as text, behind further bytes; null: behind the first ones. */
export async function hashed(before: string | null, bytes: Uint8Array): Promise<string> {
  let state = before === null ? start : stateOf(before)
  for (let at = 0; at < bytes.length; at += atOnce) {
    state = taken(state, bytes.subarray(at, at + atOnce))
    await setImmediate()
  }
  return textOf(state)
}

/** Returns the digest of everything that a state has taken, in hexadecimal digits. */
export function digestOf(state: string): string {
  const all = stateOf(state)
  const padding = Buffer.alloc(blockBytes - ((all.rest.length + 8) % blockBytes) + 8)
  padding[0] = 0x80
  padding.writeBigUInt64BE(BigInt(all.length) * 8n, padding.length - 8)
  return wordsText(taken(all, padding).words)
}
