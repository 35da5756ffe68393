import { hash } from 'node:crypto'
import type { Egress, SmallResponse } from '../../gateway/ports/egress.ts'
import { oneLine } from '../../lib/text/one-line.ts'
import { type LogStore, LogStoreError } from './log-store.ts'

/** A request to an object store, before it carries a credential. */
export interface ObjectRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly url: { readonly origin: string; readonly path: string }
  /** Flat name, value ... */
  readonly headers: readonly string[]
  readonly body: Uint8Array | null
}

/** How a store is asked for objects; paths are below the URL of the place. */
export interface ObjectApi {
  /** Returns the request that writes an object. Stores with a lock on objects demand a digest of it, its MD5 in base64; null: none is sent. */
  put(key: string, object: Uint8Array, digest: string | null): Omit<ObjectRequest, 'url'> & { readonly path: string }
  /** Returns the path of the GET that reads an object. */
  get(key: string): string
}

/** A PUT and a GET of a URL: S3 and its kin, Google's XML API, Azure's block blobs. */
const plainApi: ObjectApi = {
  put: (key, object, digest) => ({
    method: 'PUT',
    path: `/${key}`,
    headers: ['content-type', 'application/json', ...(digest === null ? [] : ['content-md5', digest])],
    body: object,
  }),
  get: (key) => `/${key}`,
}

/** A place in an object store. */
export interface ObjectPlace {
  readonly name: string
  /** The URL below which objects are, without a slash at its end. */
  readonly base: string
  /** Absent: objects are written by a PUT, and read by a GET, of their key below the base. */
  readonly api?: ObjectApi
  /** More headers of the request that writes, flat. */
  readonly putHeaders: readonly string[]
  /** Returns the headers that authorise the request, flat. */
  readonly authorize: (request: ObjectRequest) => Promise<readonly string[]>
}

/** The most bytes that a log's object may have: two bodies in base64, and their headers. */
const longestObject = 256 * 1024 * 1024

/** Statuses by which stores refuse to replace an object: it is locked, or there is no right to. */
const keptStatuses: ReadonlySet<number> = new Set([403, 409, 412])

export interface ObjectStoreOptions {
  readonly egress: Egress
  readonly timeoutMs: number
  /** True: objects are sent with a digest of them. */
  readonly sendsDigest: boolean
}

/** Creates a store over the egress guard. */
export function createObjectStore(place: ObjectPlace, { egress, timeoutMs, sendsDigest }: ObjectStoreOptions): LogStore {
  const { origin, pathname } = new URL(place.base)
  const basePath = pathname.replace(/\/$/, '')
  const api = place.api ?? plainApi

  const send = async (below: string, { method, headers, body }: Omit<ObjectRequest, 'url'>): Promise<SmallResponse> => {
    const path = `${basePath}${below}`
    const proof = await place.authorize({ method, url: { origin, path }, headers, body })
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
  const read = (key: string) => told(send(api.get(key), { method: 'GET', headers: [], body: null }))

  return {
    name: place.name,
    async put(key, object) {
      const { path, headers, ...rest } = api.put(key, object, sendsDigest ? md5(object) : null)
      const { status, text } = await told(send(path, { headers: [...place.putHeaders, ...headers], ...rest }))
      if (status >= 200 && status <= 299) return
      if (keptStatuses.has(status) && isSame(await read(key), object)) return
      throw refused(status, text)
    },
    async get(key) {
      const { status, bytes, text } = await read(key)
      if (status === 404) return null
      if (status !== 200) throw refused(status, text)
      return bytes
    },
    remove: null,
    expire: null,
  }
}

/** True when a process wrote the object and died before its note, so that a lock refuses the repeated write. */
const isSame = ({ status, bytes }: SmallResponse, object: Uint8Array): boolean => status === 200 && Buffer.compare(bytes, object) === 0

/** Returns the digest that a store compares with the bytes that it got. */
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
  const [, code] = /(?:<Code>|"reason":\s*")([\w.-]{1,64})["<]/.exec(text) ?? []
  return new LogStoreError(oneLine(`the log store answered ${status}${code === undefined ? '' : ` (${code})`}`, 200))
}
