import { hash } from 'node:crypto'

/** Bytes that never change while the process runs, with the tag by which a browser asks for them again. */
export interface StaticAnswer {
  readonly type: string
  readonly bytes: Buffer
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** Makes a text ready to be sent. */
export function cached(type: string, text: string, headers: Readonly<Record<string, string>> = {}): StaticAnswer {
  return { type, headers, bytes: Buffer.from(text), etag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"` }
}
