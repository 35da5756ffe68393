import { sign, type KeyObject } from 'node:crypto'

/** A request as Oracle's signature sees it. `date` as in the `date` header. */
export interface SignableRequest {
  readonly method: string
  readonly path: string
  readonly host: string
  readonly date: string
  /** For methods that carry a body; null for the others. */
  readonly body: { readonly length: number; readonly type: string; readonly sha256: string } | null
}

/** Oracle Cloud's `authorization` header: draft-cavage-http-signatures, RSA-SHA256, version 1. Pure. */
export function httpSignature({ method, path, host, date, body }: SignableRequest, key: KeyObject, keyId: string): string {
  const parts: (readonly [string, string])[] = [
    ['date', date],
    ['(request-target)', `${method.toLowerCase()} ${path}`],
    ['host', host],
  ]
  if (body !== null) parts.push(['content-length', String(body.length)], ['content-type', body.type], ['x-content-sha256', body.sha256])
  const text = parts.map(([name, value]) => `${name}: ${value}`).join('\n')
  const names = parts.map(([name]) => name).join(' ')
  const signature = sign('RSA-SHA256', Buffer.from(text), key).toString('base64')
  return `Signature version="1",headers="${names}",keyId="${keyId}",algorithm="rsa-sha256",signature="${signature}"`
}
