import { ApiError } from '../lib/errors.ts'
import { authorize } from './auth/authorize.ts'
import type { RequestBody } from './body.ts'
import type { Egress, EgressOrigin, EgressRequest } from './egress/egress.ts'
import { headerValue } from './headers.ts'
import type { MatchedOperation } from './operation.ts'
import { type Auth, bearer, type Provider } from './providers/provider.ts'
import { fillTemplate } from './providers/template.ts'
import type { Target } from './target.ts'

export interface SendRequest {
  readonly method: string
  /** Path and query below `/v1`, as the client sent them. */
  readonly path: string
  readonly operation: MatchedOperation
  readonly target: Target
  readonly body: RequestBody
  /** The caller's headers that may go on. */
  readonly forward: readonly string[]
  readonly timeouts: EgressRequest['timeouts']
  readonly egress: Egress
}

/** A request that is ready to go: checked host, signed, in the provider's words. */
export interface Prepared {
  readonly origin: EgressOrigin
  readonly request: EgressRequest
  /** For the log: the URL without query, which may hold a key. */
  readonly url: string
}

/** Turns the caller's request into the provider's: host, path, headers, credential. Throws ApiError, `blocked_host` among others. */
export async function prepare(request: SendRequest): Promise<Prepared> {
  const { target, egress } = request
  const fields = templateFields(request)
  const base = target.customHost ?? { url: fillTemplate(target.provider.baseUrl ?? '', fields), param: 'x-service-provider' }
  const checked = egress.origin(base.url, base.param)
  const origin = checked instanceof Promise ? await checked : checked
  const path = origin.basePath + providerPath(request, fields)
  const headers = providerHeaders(request)
  const signing = authorize(
    {
      auth: effectiveAuth(target),
      credential: target.credential,
      method: request.method,
      url: { origin: origin.origin, path },
      headers,
      body: request.body.bytes,
    },
    { egress, now: Date.now },
  )
  const signed = signing instanceof Promise ? await signing : signing
  return {
    origin,
    url: origin.origin + (path.split('?', 1)[0] ?? path),
    request: {
      method: request.method,
      path: signed.path,
      headers: signed.headers.length === 0 ? headers : [...headers, ...signed.headers],
      body: request.body.bytes ?? request.body.stream,
      timeouts: request.timeouts,
    },
  }
}

/** A host of one's own without a fixed scheme takes a bearer token when the caller has one. */
function effectiveAuth({ provider, credential }: Target): Auth {
  return provider.auth.kind === 'none' && credential.key !== null ? bearer : provider.auth
}

/** Whether the credential signs the body, so that it must be held. */
export function signsBody(provider: Provider): boolean {
  return provider.auth.kind === 'sigv4' || provider.auth.kind === 'oracle'
}

function templateFields({ target, operation }: SendRequest): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, fallback] of Object.entries(target.provider.fields ?? {})) if (fallback !== null) fields[name] = fallback
  Object.assign(fields, target.credential.fields)
  if (target.model !== null) fields['model'] = target.model
  for (const [name, value] of Object.entries(operation.params)) fields[name] = decodeSegment(name, value)
  return fields
}

function decodeSegment(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (cause) {
    throw new ApiError('invalid_request', `The path parameter ${name} is not valid percent-encoding.`, { param: name, cause })
  }
}

/** The operation's path in the provider's layout; the caller's own path for the pass-through. */
function providerPath({ path, operation, target }: SendRequest, fields: Readonly<Record<string, string>>): string {
  const template = operation.name === 'proxy' ? undefined : target.provider.paths?.[operation.name]
  if (template === undefined || operation.name === 'proxy' || !target.provider.serves.includes(operation.name)) return path
  const filled = fillTemplate(template, fields)
  const at = path.indexOf('?')
  if (at === -1) return filled
  return filled + (filled.includes('?') ? '&' : '?') + path.slice(at + 1)
}

function providerHeaders({ forward, target, body }: SendRequest): readonly string[] {
  const defaults = target.provider.headers
  if (defaults === undefined && target.view === null && body.stream === null) return forward
  const headers = [...forward]
  for (const [name, value] of Object.entries(defaults ?? {})) if (headerValue(forward, name) === undefined) headers.push(name, value)
  for (const [name, value] of Object.entries(target.customHeaders)) setHeader(headers, name, value)
  if (body.stream !== null && body.length !== null) headers.push('content-length', String(body.length))
  return headers
}

/** A stored header replaces the caller's of that name. */
function setHeader(headers: string[], name: string, value: string): void {
  const lower = name.toLowerCase()
  for (let i = headers.length - 2; i >= 0; i -= 2) if (headers[i]?.toLowerCase() === lower) headers.splice(i, 2)
  headers.push(name, value)
}
