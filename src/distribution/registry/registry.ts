import { z } from 'zod'
import type { ProxySettings } from '../../gateway/ports/egress.ts'
import { createEgress } from '../../gateway/ports/egress-making.ts'
import { oneLine } from '../../lib/text/one-line.ts'
import type { Chunks } from '../bytes.ts'
import { DistributionFault } from '../fault.ts'
import { mediaTypes, type Descriptor } from '../oci/documents.ts'
import { authorise, type Credentials } from './authorise.ts'
import type { RegistryTarget } from './target.ts'
import { sendOver, type WireAnswer, type WireRequest } from './wire.ts'

/** A registry that speaks the OCI distribution API. Every method throws DistributionFault `registry_refused` or `registry_unreachable`. */
export interface Registry {
  hasBlob(repository: string, digest: string): Promise<boolean>
  putBlob(repository: string, descriptor: Descriptor, chunks: () => Chunks): Promise<void>
  /** The digest of a tag or digest; null when the registry has none. */
  findManifest(repository: string, reference: string): Promise<string | null>
  /** Gives the digest under which the registry stored it. */
  putManifest(
    repository: string,
    reference: string,
    manifest: { readonly mediaType: string; readonly text: string },
  ): Promise<string | null>
  close(): Promise<void>
}

interface RepositoryRequest extends Omit<WireRequest, 'url'> {
  readonly repository: string
  /** Below `/v2/<repository>/`, or a whole address that the registry gave. */
  readonly path: string
}

const connectTimeoutMs = 15_000
const digestHeader = 'docker-content-digest'

/** Opens no connection yet. A private address is no obstacle: the operator named it. */
export function openRegistry(target: RegistryTarget, credentials: Credentials | null, proxies: ProxySettings | null): Registry {
  const port = new URL(target.origin).port
  const egress = createEgress({ trustedHosts: [target.hostname, ...(port === '' ? [] : [target.host])], connectTimeoutMs, proxies })
  const known = new Map<string, string>()
  const send = (request: WireRequest) => sendOver(egress, request)

  async function call({ repository, path, headers = {}, ...request }: RepositoryRequest): Promise<WireAnswer> {
    const url = URL.canParse(path) ? path : `${target.origin}/v2/${repository}/${path}`
    const attempt = () => {
      const authorization = known.get(repository)
      return send({ ...request, url, headers: { ...headers, ...(authorization !== undefined && { authorization }) } })
    }
    const answer = await attempt()
    if (answer.status !== 401) return answer
    const { hostname } = target
    known.set(repository, await authorise(answer.headers['www-authenticate'] ?? '', { repository, hostname, credentials }, send))
    return attempt()
  }

  /** Returns the URL at which an upload goes on; it must be on the same host, because credentials go there. */
  function next(answer: WireAnswer, at: string): URL {
    const location = URL.parse(answer.headers['location'] ?? '', at)
    if (location?.origin === target.origin) return location
    throw new DistributionFault('registry_refused', `${target.host} sends uploads to ${location?.host ?? 'nowhere'}, another host`)
  }

  return {
    async hasBlob(repository, digest) {
      const answer = await call({ repository, method: 'HEAD', path: `blobs/${digest}` })
      // A registry may keep its blobs elsewhere and lead there.
      if ([200, 302, 307].includes(answer.status)) return true
      if (answer.status === 404) return false
      throw refused(target, `the blob ${digest}`, answer)
    },

    async putBlob(repository, { digest, size }, chunks) {
      const what = `the blob ${digest}`
      const begun = expected(202, await call({ repository, method: 'POST', path: 'blobs/uploads/' }), [target, what])
      const upload = next(begun, `${target.origin}/v2/${repository}/blobs/uploads/`)
      const headers = { 'content-type': 'application/octet-stream' }
      const request = { repository, method: 'PATCH', path: upload.href, headers, body: { chunks, size } } as const
      const sent = expected(202, await call(request), [target, what])
      const end = next(sent, upload.href)
      end.searchParams.set('digest', digest)
      expected(201, await call({ repository, method: 'PUT', path: end.href }), [target, what])
    },

    async findManifest(repository, reference) {
      const headers = { accept: [mediaTypes.manifest, mediaTypes.index, mediaTypes.dockerManifest, mediaTypes.dockerIndex].join(', ') }
      const answer = await call({ repository, method: 'HEAD', path: `manifests/${reference}`, headers })
      if (answer.status === 404) return null
      return expected(200, answer, [target, `${repository}:${reference}`]).headers[digestHeader] ?? 'an unnamed digest'
    },

    async putManifest(repository, reference, { mediaType, text }) {
      const bytes = Buffer.from(text)
      const body = { chunks: () => [bytes], size: bytes.length }
      const answer = await call({ repository, method: 'PUT', path: `manifests/${reference}`, headers: { 'content-type': mediaType }, body })
      return expected(201, answer, [target, `${repository}:${reference}`]).headers[digestHeader] ?? null
    },

    close: () => egress.close(),
  }
}

function expected(status: number, answer: WireAnswer, [target, what]: readonly [RegistryTarget, string]): WireAnswer {
  if (answer.status === status) return answer
  throw refused(target, what, answer)
}

const Errors = z.object({ errors: z.array(z.object({ code: z.string(), message: z.string().default('') })) })

function refused({ host }: RegistryTarget, what: string, { status, text }: WireAnswer): DistributionFault {
  const said = explain(text)
  return new DistributionFault('registry_refused', `${host} answers ${status} for ${what}${said === '' ? '' : `: ${said}`}`)
}

/** Returns the registry's own message, on one line. */
function explain(text: string): string {
  try {
    const { errors } = Errors.parse(JSON.parse(text))
    return oneLine(errors.map(({ code, message }) => `${code} ${message}`).join('; '), 300)
  } catch {
    return ''
  }
}
