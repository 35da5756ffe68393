import { hash } from 'node:crypto'
import type { Egress, SmallResponse } from '../../gateway/egress/egress.ts'
import { oneLine } from '../../lib/text/one-line.ts'
import { type LogStore, LogStoreError } from './log-store.ts'

/** A request to an object store, before it carries a credential. */
export interface ObjectRequest {
  readonly method: 'GET' | 'PUT'
  readonly url: { readonly origin: string; readonly path: string }
  /** Flat name, value ... */
  readonly headers: readonly string[]
  readonly body: Uint8Array | null
}

/** An object store that takes a PUT and a GET of a URL: S3 and its kin, Google's XML API, Azure's block blobs. */
export interface ObjectPlace {
  readonly name: string
  /** The URL below which objects are, without a slash at its end. */
  readonly base: string
  /** More headers of a PUT, flat. */
  readonly putHeaders: readonly string[]
  /** Returns the headers that prove who asks, flat. */
  readonly authorize: (request: ObjectRequest) => Promise<readonly string[]>
}

/** The most bytes that a log's object may have: two bodies in base64, and their headers. */
const longestObject = 256 * 1024 * 1024

/** A store over the egress guard. */
export function createObjectStore(place: ObjectPlace, { egress, timeoutMs }: { egress: Egress; timeoutMs: number }): LogStore {
  const { origin, pathname } = new URL(place.base)
  const basePath = pathname.replace(/\/$/, '')

  const send = async (method: 'GET' | 'PUT', key: string, body: Uint8Array | null): Promise<SmallResponse> => {
    const path = `${basePath}/${key}`
    const headers = body === null ? [] : [...place.putHeaders, 'content-type', 'application/json', 'content-md5', md5(body)]
    const request: ObjectRequest = { method, url: { origin, path }, headers, body }
    const proof = await place.authorize(request)
    return egress.exchange({
      url: `${origin}${path}`,
      method,
      headers: recordOf([...headers, ...proof]),
      ...(body !== null && { bytes: body }),
      timeoutMs,
      maxBytes: longestObject,
      named: 'by catalogue',
    })
  }

  return {
    name: place.name,
    async put(key, object) {
      const { status, text } = await told(send('PUT', key, object))
      if (status < 200 || status > 299) throw refused(status, text)
    },
    async get(key) {
      const { status, bytes, text } = await told(send('GET', key, null))
      if (status === 404) return null
      if (status !== 200) throw refused(status, text)
      return bytes
    },
    remove: null,
    expire: null,
  }
}

/** Object stores with a lock on objects demand a digest. */
const md5 = (body: Uint8Array): string => hash('md5', body, 'base64')

const recordOf = (flat: readonly string[]): Record<string, string> =>
  Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [])))

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new LogStoreError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** The store's own code, such as `AccessDenied`; its prose may quote the credential. */
function refused(status: number, text: string): LogStoreError {
  const [, code] = /<Code>([\w.-]{1,64})<\/Code>/.exec(text) ?? []
  return new LogStoreError(oneLine(`the log store answered ${status}${code === undefined ? '' : ` (${code})`}`, 200))
}
