import { generateKeyPairSync } from 'node:crypto'
import { errors, Provider, type TokenModel } from 'oidc-provider'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import { invokeScope } from '../../gateway/ports/mcp.ts'
import { createSignInToken } from '../../lib/api-key.ts'
import { ApiError } from '../../lib/errors.ts'
import { User } from '../users/user.entity.ts'
import { type DescribedClient, fetchDocument, isAllowed, maxDocumentBytes } from './client-documents.ts'
import { issuerOf, paths } from './metadata.ts'
import { refusalPage, type RenderedFault } from './pages.ts'
import { serverPathOf } from './resources.ts'
import { signInMs } from './sign-ins.ts'
import { storageOf } from './storage.ts'
import { currentVisit } from './visit.ts'

type Handler = ReturnType<Provider['callback']>

const handlers = new WeakMap<Deps, Handler>()

/** Returns the authorization server of a process, which is made on its first request. */
export function providerOf(deps: Deps): Handler {
  const known = handlers.get(deps)
  if (known !== undefined) return known
  const made = makeProvider(deps)
  handlers.set(deps, made)
  return made
}

function makeProvider(deps: Deps): Handler {
  const issuer = issuerOf(deps.config)
  const provider = new Provider(issuer, {
    ...fixed,
    cookies: cookiesOf(deps),
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `${issuer}/console/let-in#request=${uid}` },
    features: featuresOf(deps),
  })
  // They are those of `replayed`.
  provider.proxy = true
  provider.silent = true
  for (const { prototype } of [provider.AccessToken, provider.AuthorizationCode, provider.RefreshToken]) nameAsOurs(prototype)
  provider.on('server_error', (_, error) => deps.log.error({ err: error }, 'the authorization server failed'))
  return provider.callback()
}

/** Makes codes and tokens in the form of our keys, which keeps them out of logs. */
function nameAsOurs(model: TokenModel['prototype']): void {
  const usual = model.generateTokenId
  model.generateTokenId = function generate(this: TokenModel['prototype']): string {
    // It notes the format beside.
    usual.call(this)
    return createSignInToken()
  }
}

/** The same in every process, so that each reads the cookies of all. */
const cookiesOf = ({ vault }: Deps) => ({
  keys: [vault.hashKey('mcp-sign-ins:cookies').toString('base64url')],
  names: { session: 'gatehouse_oauth', interaction: 'gatehouse_oauth_request', resume: 'gatehouse_oauth_resume' },
  long: { httpOnly: true, sameSite: 'lax', path: paths.authorize },
  short: { httpOnly: true, sameSite: 'lax' },
})

const off = { enabled: false }

const featuresOf = ({ config }: Deps) => ({
  devInteractions: off,
  dPoP: off,
  userinfo: off,
  rpInitiatedLogout: off,
  pushedAuthorizationRequests: off,
  revocation: {
    enabled: true,
    allowedPolicy: (_: unknown, client: ClientReference, token: ClientReference) => token.clientId === client.clientId,
  },
  clientIdMetadataDocument: {
    enabled: true,
    ack: 'draft-02',
    allowClient: (_: unknown, client: DescribedClient) => isAllowed(client),
    // Our own storage keeps documents; this is for the requests of one sign-in.
    cacheDuration: { min: 30, max: 30 },
  },
  resourceIndicators: {
    enabled: true,
    defaultResource: (_: unknown, __: unknown, several: unknown) => {
      // A token is for one server: none is not enough, and two are too many.
      if (currentVisit().userId !== null || several !== undefined) throw new errors.InvalidTarget('resource must name one MCP server')
    },
    getResourceServerInfo(_: unknown, resource: string) {
      if (serverPathOf(config, resource) === null) throw new errors.InvalidTarget('resource is the address of no MCP server here')
      return { scope: invokeScope, audience: resource, accessTokenTTL: accessTokenSeconds, accessTokenFormat: 'opaque' }
    },
  },
})

interface ClientReference {
  readonly clientId: string
}

const accessTokenSeconds = 3600

/** The parts that no installation changes. */
const fixed = {
  adapter: storageOf,
  fetch: fetchDocument,
  fetchResponseBodyLimits: { 'client_id metadata document': maxDocumentBytes },
  scopes: [],
  routes: { authorization: paths.authorize, token: paths.token, revocation: paths.revoke },
  responseTypes: ['code'],
  clientAuthMethods: ['none'],
  clientDefaults: {
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'Ed25519',
  },
  // The library wants a key, although tokens are random and none is signed.
  jwks: { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: (_: unknown, client: { grantTypeAllowed(type: string): boolean }) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: () => false,
  revokeGrantPolicy: () => true,
  ttl: {
    Interaction: 600,
    AuthorizationCode: 60,
    AccessToken: accessTokenSeconds,
    RefreshToken: signInMs / 1000,
    Grant: signInMs / 1000,
    Session: 600,
  },
  clientBasedCORS: (_: unknown, origin: string, { redirectUris }: DescribedClient) =>
    redirectUris.some((uri) => URL.parse(uri)?.origin === origin),
  findAccount,
  renderError(ctx: ShownAnswer, fault: RenderedFault, { cause }: Error) {
    const { headers, html } = refusalPage(currentVisit(), {
      ...fault,
      ...(cause instanceof ApiError && { error_description: cause.message }),
    })
    ctx.set(headers)
    ctx.type = 'html'
    ctx.body = html
  },
}

/** The answer of the library, as far as a page goes. */
interface ShownAnswer {
  body: string
  type: string
  set(headers: Readonly<Record<string, string>>): void
}

/** Returns the account of a person who is still there. */
async function findAccount(_: unknown, id: string) {
  const { deps, organisationId } = currentVisit()
  const person = await inTenant(deps.orm, organisationId, (em) => em.findOne(User, { id, status: 'active' }, { fields: ['id'] }))
  return person === null ? undefined : { accountId: person.id, claims: () => Promise.resolve({ sub: person.id }) }
}
