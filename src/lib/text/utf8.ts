import { isUtf8 } from 'node:buffer'

/** Returns the text of bytes; null when they are none. A cut may have gone through their last character, which is then dropped. */
export function textOf(bytes: Uint8Array): string | null {
  for (let dropped = 0; dropped < 4 && dropped <= bytes.length; dropped++) {
    const kept = bytes.subarray(0, bytes.length - dropped)
    if (isUtf8(kept)) return Buffer.from(kept.buffer, kept.byteOffset, kept.length).toString()
  }
  return null
}
