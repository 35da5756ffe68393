import { createHmac } from 'node:crypto'

/** A request to Azure's blobs, as it will go on the wire. */
export interface BlobRequest {
  readonly method: string
  /** Path without a query. */
  readonly path: string
  /** Flat name, value ... with `x-ms-date` among them. */
  readonly headers: readonly string[]
  readonly length: number
}

/** An account of Azure Storage; `key` is base64. */
export interface StorageAccount {
  readonly account: string
  readonly key: string
}

/** Returns the `authorization` header of Shared Key, for requests without a query. Pure. */
export function signBlobRequest({ method, path, headers, length }: BlobRequest, { account, key }: StorageAccount): string {
  const fields = new Map<string, string>()
  for (let index = 0; index < headers.length; index += 2) fields.set((headers[index] ?? '').toLowerCase(), headers[index + 1] ?? '')
  const standard = standardHeaders.map((name) =>
    name === 'content-length' ? (length === 0 ? '' : String(length)) : (fields.get(name) ?? ''),
  )
  const own = [...fields].filter(([name]) => name.startsWith('x-ms-')).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const text = [method, ...standard, ...own.map(([name, value]) => `${name}:${value.trim()}`), `/${account}${path}`].join('\n')
  return `SharedKey ${account}:${createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64')}`
}

/** The headers that have a line of their own, in this order; the date is in `x-ms-date`. */
const standardHeaders = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
]
