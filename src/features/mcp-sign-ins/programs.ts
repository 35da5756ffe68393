import type { MountedRequest } from '../../app/mounted-app.ts'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { isSignInToken } from '../../lib/api-key.ts'
import { ApiError } from '../../lib/errors.ts'
import { paths } from './metadata.ts'
import { McpSignInSecret } from './mcp-sign-in-secret.entity.ts'
import { providerOf } from './provider.ts'
import { replayed } from './replayed.ts'
import { hashOf } from './storage.ts'
import { during } from './visit.ts'

/** The longest body. */
const maxBytes = 16 * 1024

/**
 * Answers a program that shows a secret of a sign-in: for tokens (RFC 6749, sections 4.1.3 and 6), or to give one back (RFC 7009). The secret leads to the
 * organisation; a request without a known one goes no further.
 */
export async function answerProgram(request: MountedRequest, path: string): Promise<'answered' | 'refused'> {
  const { req, res, deps } = request
  if (req.method === 'OPTIONS') return ask(request, { path, organisationId: '', body: null })
  if (req.method !== 'POST') throw new ApiError('method_not_allowed', 'This address takes POST.', { headers: ['allow', 'POST'] })
  const body = await readBody(request)
  const secret = secretIn(path, new URLSearchParams(body.toString()))
  const organisationId = secret === null ? null : await ownerOf(deps, secret)
  if (organisationId !== null) return ask(request, { path, organisationId, body })
  const headers = { 'cache-control': 'no-store', 'access-control-allow-origin': '*' }
  // A token that is not there was given back before (RFC 7009, section 2.2).
  if (path === paths.revoke && secret !== null) res.writeHead(200, headers).end()
  else res.writeHead(400, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(faultOf(secret)))
  return secret === null ? 'answered' : 'refused'
}

const faultOf = (secret: string | null) =>
  secret === null
    ? { error: 'invalid_request', error_description: 'code, refresh_token or token is missing' }
    : { error: 'invalid_grant', error_description: 'grant request is invalid' }

interface KnownRequest {
  readonly path: string
  readonly organisationId: string
  readonly body: Buffer | null
}

async function ask(request: MountedRequest, { path, organisationId, body }: KnownRequest): Promise<'answered'> {
  const { req, res, deps } = request
  await during({ ...request, organisationId, userId: null }, () =>
    providerOf(deps)(replayed(req, { config: deps.config, url: path, body }), res),
  )
  return 'answered'
}

function secretIn(path: string, form: URLSearchParams): string | null {
  if (path === paths.revoke) return form.get('token')
  return form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : form.get('code')
}

/** Returns the organisation of a secret; null: there is no such secret. */
async function ownerOf({ orm, vault }: Deps, secret: string): Promise<string | null> {
  if (!isSignInToken(secret)) return null
  const keyHash = hashOf(vault, secret)
  const row = await asSystem(orm, (em) => em.findOne(McpSignInSecret, { keyHash }, { fields: ['organisationId'] }))
  return row?.organisationId ?? null
}

/** Reads the fields of a form. */
export const readForm = async (request: MountedRequest): Promise<URLSearchParams> =>
  new URLSearchParams((await readBody(request)).toString())

async function readBody({ req }: MountedRequest): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new ApiError('payload_too_large', `A body is of at most ${maxBytes} bytes here.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
