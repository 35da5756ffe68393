import { isUtf8 } from 'node:buffer'
import { parseJson } from '../../lib/json/json.ts'
import { inflated } from '../../lib/text/inflate.ts'

export interface StoredBody {
  readonly bytes: Uint8Array | null
  readonly truncated: boolean
  /** The `content-encoding` it was sent with. */
  readonly contentEncoding: string | undefined
}

export interface BodyView {
  readonly body: unknown
  readonly body_encoding: 'json' | 'text' | 'base64' | null
  readonly body_truncated: boolean
}

/** A stored body as a reader wants it: decompressed, as JSON when it is JSON, else as text, else as base64. */
export async function presentBody({ bytes, truncated, contentEncoding }: StoredBody): Promise<BodyView> {
  if (bytes === null) return { body: null, body_encoding: null, body_truncated: truncated }
  const plain = await inflated(bytes, contentEncoding)
  const text = truncated ? withoutCutCharacter(plain) : plain
  if (!isUtf8(text)) return { body: Buffer.from(plain).toString('base64'), body_encoding: 'base64', body_truncated: truncated }
  const json = parsed(text)
  if (json !== undefined) return { body: json, body_encoding: 'json', body_truncated: truncated }
  return { body: Buffer.from(text).toString(), body_encoding: 'text', body_truncated: truncated }
}

/** Objects and arrays only: a bare number or word is shown as the text it was. Undefined: no JSON, or too deep to be sent on. */
function parsed(bytes: Uint8Array): unknown {
  const first = bytes.find((byte) => byte > 0x20)
  if (first !== 0x7b && first !== 0x5b) return undefined
  try {
    return parseJson(bytes)
  } catch {
    return undefined
  }
}

/** A cut may have gone through a character, whose first bytes are then dropped. */
function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findLastIndex((byte) => byte < 0x80 || byte >= 0xc0)
  const tail = bytes.subarray(Math.max(start, 0))
  return start !== -1 && tail.length < 4 && !isUtf8(tail) ? bytes.subarray(0, start) : bytes
}
