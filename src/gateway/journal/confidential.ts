import type { ExchangeBodies, ExchangeRecord } from './log-record.ts'

/**
 * What is confidential in a log, sealed as one text: three lengths (4 bytes each, little-endian: facts, request body, response body; a body
 * that is absent has 0xffffffff), the facts as JSON text, the bodies. What logs are listed and filtered by stays in the clear.
 */
export interface Confidential extends Facts {
  readonly request: Uint8Array | null
  readonly response: Uint8Array | null
}

type Facts = Pick<ExchangeRecord, 'path' | 'upstreamUrl' | 'requestHeaders' | 'responseHeaders' | 'hooks' | 'attempts'>

/** The layout's version, the first element of the facts. */
const version = 1
const headBytes = 12
const absent = 0xff_ff_ff_ff

type FactFields = [
  typeof version,
  path: Facts['path'],
  upstreamUrl: Facts['upstreamUrl'],
  requestHeaders: Facts['requestHeaders'],
  responseHeaders: Facts['responseHeaders'],
  hooks: Facts['hooks'],
  /** Absent in what was sealed by a process that made one attempt only. */
  attempts?: Facts['attempts'],
]

/** Encodes the confidential part of an exchange, in pieces. */
export function encodeConfidential(record: ExchangeRecord, { request, response }: ExchangeBodies): readonly Uint8Array[] {
  const { path, upstreamUrl, requestHeaders, responseHeaders, hooks, attempts } = record
  const fields: FactFields = [version, path, upstreamUrl, requestHeaders, responseHeaders, hooks, attempts]
  const facts = Buffer.from(JSON.stringify(fields))
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32LE(facts.length, 0)
  head.writeUInt32LE(request?.length ?? absent, 4)
  head.writeUInt32LE(response?.length ?? absent, 8)
  return [head, facts, request, response].filter((part) => part !== null)
}

/** Decodes what `encodeConfidential` made. The bytes are our own, guarded by the seal; throws when their version is another. */
export function decodeConfidential(bytes: Buffer): Confidential {
  const [factsBytes, requestBytes, responseBytes] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)]
  const fields: FactFields = JSON.parse(bytes.toString('utf8', headBytes, headBytes + factsBytes))
  const found: number = fields[0]
  if (found !== version) throw new Error(`the sealed part of a log has layout ${found}, not ${version}`)
  const [, path, upstreamUrl, requestHeaders, responseHeaders, hooks, attempts = null] = fields
  const requestAt = headBytes + factsBytes
  const responseAt = requestAt + (requestBytes === absent ? 0 : requestBytes)
  return {
    path,
    upstreamUrl,
    requestHeaders,
    responseHeaders,
    hooks,
    attempts,
    request: requestBytes === absent ? null : bytes.subarray(requestAt, responseAt),
    response: responseBytes === absent ? null : bytes.subarray(responseAt, responseAt + responseBytes),
  }
}

/** Returns the record without its confidential facts. A query can hold anything, so the path ends before it. */
export const withoutConfidential = (record: ExchangeRecord): ExchangeRecord => ({
  ...record,
  path: record.path.split('?', 1)[0] ?? '',
  upstreamUrl: null,
  requestHeaders: {},
  responseHeaders: {},
  hooks: null,
  attempts: null,
})
