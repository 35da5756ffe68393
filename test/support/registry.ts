import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A registry that speaks the OCI distribution API, as far as pushing and pulling go, and keeps all in memory. */
export interface TestRegistry {
  /** `http://127.0.0.1:PORT`, or `https://localhost:PORT` */
  readonly origin: string
  readonly host: string
  /** Manifests by `<repository>:<tag>` and `<repository>@<digest>`. */
  readonly manifests: ReadonlyMap<string, { readonly mediaType: string; readonly text: string }>
  /** Blobs by `<repository>@<digest>`. */
  readonly blobs: ReadonlyMap<string, Buffer>
  /** `HEAD /v2/gatehouse/blobs/…`, in their order. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

export interface RegistryBehaviour {
  /** The callers that it lets in, and its challenge; absent: all. */
  readonly login?: { readonly scheme: 'basic' | 'bearer'; readonly username: string; readonly password: string; readonly realm?: string }
  /** Answers a request in place of the registry, when it gives a status. */
  readonly fault?: (method: string, path: string) => number | undefined
  /** Speaks HTTPS, as `localhost`. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** The address to which uploads are sent on, in place of the registry itself. */
  readonly uploadsAt?: string
}

const token = 'a-token-of-the-registry'

export async function startRegistry({ login, fault, tls, uploadsAt = '' }: RegistryBehaviour = {}): Promise<TestRegistry> {
  const manifests = new Map<string, { mediaType: string; text: string }>()
  const blobs = new Map<string, Buffer>()
  const uploads = new Map<string, Buffer>()
  const requests: string[] = []
  const listener = (request: IncomingMessage, response: ServerResponse) => void answer(request, response)
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const host = `${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}`
  const origin = `${tls === undefined ? 'http' : 'https'}://${host}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    const { method = '' } = request
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
    const reply = (status: number, headers: Record<string, string> = {}, text = '') => response.writeHead(status, headers).end(text)
    if (pathname === '/token') return void reply(...giveToken(request, searchParams))
    requests.push(`${method} ${pathname}`)
    const failed = fault?.(method, pathname)
    if (failed !== undefined)
      return void reply(failed, { 'content-type': 'application/json' }, '{"errors":[{"code":"FAULT","message":"as the test wants"}]}')
    if (!mayEnter(request)) return void reply(401, { 'www-authenticate': challenge() })
    // A client that pulls asks first whether this is a registry.
    if (pathname === '/v2/') return void reply(200)
    const [, repository = '', kind = '', rest = ''] = /^\/v2\/(.+)\/(blobs|manifests)\/(.*)$/.exec(pathname) ?? []
    if (kind === 'manifests') return void reply(...onManifest({ method, repository, reference: rest, request, body }))
    if (rest.startsWith('uploads/')) return void reply(...onUpload({ method, repository, id: rest.slice(8), searchParams, body }))
    const blob = blobs.get(`${repository}@${rest}`)
    if (blob === undefined) return void reply(404)
    response.writeHead(200, { 'content-length': blob.length, 'docker-content-digest': rest }).end(method === 'GET' ? blob : undefined)
  }

  function onManifest({ method, repository, reference, request, body }: ManifestRequest): Reply {
    const name = `${repository}${reference.startsWith('sha256:') ? '@' : ':'}${reference}`
    if (method === 'PUT') {
      const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`
      const manifest = { mediaType: request.headers['content-type'] ?? '', text: body.toString() }
      const lacking = partsOf(manifest.text).find((part) => !blobs.has(`${repository}@${part}`) && !manifests.has(`${repository}@${part}`))
      if (lacking !== undefined) return [400, {}, `{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"${lacking}"}]}`]
      for (const key of [name, `${repository}@${digest}`]) manifests.set(key, manifest)
      return [201, { 'docker-content-digest': digest }]
    }
    const found = manifests.get(name)
    if (found === undefined) return [404]
    const digest = `sha256:${createHash('sha256').update(found.text).digest('hex')}`
    const headers = {
      'docker-content-digest': digest,
      'content-type': found.mediaType,
      'content-length': String(Buffer.byteLength(found.text)),
    }
    return [200, headers, method === 'GET' ? found.text : '']
  }

  function onUpload({ method, repository, id, searchParams, body }: UploadRequest): Reply {
    const at = (upload: string) => ({ location: `${uploadsAt}/v2/${repository}/blobs/uploads/${upload}?state=of-ours` })
    if (method === 'POST') {
      const upload = randomUUID()
      uploads.set(upload, Buffer.alloc(0))
      return [202, at(upload)]
    }
    const content = Buffer.concat([uploads.get(id) ?? Buffer.alloc(0), body])
    if (method === 'PATCH') {
      uploads.set(id, content)
      return [202, at(id)]
    }
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
    if (searchParams.get('digest') !== digest || searchParams.get('state') !== 'of-ours')
      return [400, {}, '{"errors":[{"code":"DIGEST_INVALID","message":"another content"}]}']
    blobs.set(`${repository}@${digest}`, content)
    return [201]
  }

  const basic = () => `Basic ${Buffer.from(`${login?.username}:${login?.password}`).toString('base64')}`
  const challenge = () =>
    login?.scheme === 'basic' ? 'Basic realm="registry"' : `Bearer realm="${login?.realm ?? `${origin}/token`}",service="registry"`

  function mayEnter({ headers }: IncomingMessage): boolean {
    if (login === undefined) return true
    return headers.authorization === (login.scheme === 'basic' ? basic() : `Bearer ${token}`)
  }

  function giveToken({ headers }: IncomingMessage, searchParams: URLSearchParams): Reply {
    const asked = searchParams.get('service') === 'registry' && /^repository:[\w/]+:pull,push$/.test(searchParams.get('scope') ?? '')
    return asked && headers.authorization === basic() ? [200, {}, JSON.stringify({ token })] : [401]
  }

  return {
    origin,
    host,
    manifests,
    blobs,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Reply = [status: number, headers?: Record<string, string>, text?: string]

interface ManifestRequest {
  readonly method: string
  readonly repository: string
  readonly reference: string
  readonly request: IncomingMessage
  readonly body: Buffer
}

interface UploadRequest {
  readonly method: string
  readonly repository: string
  readonly id: string
  readonly searchParams: URLSearchParams
  readonly body: Buffer
}

/** The digests that a manifest or an index refers to. */
function partsOf(text: string): readonly string[] {
  const {
    config,
    layers = [],
    manifests = [],
  } = JSON.parse(text) as Partial<Record<'layers' | 'manifests', { digest: string }[]>> & { config?: { digest: string } }
  return [...(config ? [config] : []), ...layers, ...manifests].map(({ digest }) => digest)
}
