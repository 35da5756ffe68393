import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type GrantContext } from 'oidc-provider'

type Claims = Readonly<Record<string, unknown>>

/** A client that the provider knows. */
export interface CertifiedClient {
  readonly client_id: string
  readonly [name: string]: unknown
}

/** The certified provider `oidc-provider`, with people who never have to type anything. */
export interface CertifiedProvider {
  readonly issuer: string
  /** Who signs in next, with the claims that are told of them. */
  person: { readonly sub: string; readonly claims: Claims }
  close(): void
}

export async function startCertified(clients: readonly CertifiedClient[], jwks: Claims): Promise<CertifiedProvider> {
  let callback: RequestListener | null = null
  const server = createServer((req, res) => {
    if (req.url !== '/interaction') return callback?.(req, res)
    people.set(known.person.sub, known.person.claims)
    return provider.interactionFinished(req, res, { login: { accountId: known.person.sub } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people = new Map<string, Claims>()
  const known: CertifiedProvider = {
    issuer,
    person: { sub: 'nobody', claims: {} },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  const provider: Provider = new Provider(issuer, {
    clients,
    jwks,
    cookies: { keys: ['a key of the test'] },
    pkce: { required: () => true },
    claims: {
      openid: ['sub', 'sid'],
      email: ['email', 'email_verified'],
      profile: ['given_name', 'family_name', 'groups', 'realm_access'],
    },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: () => '/interaction' },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    async loadExistingGrant({ oidc: { session, client, requestParamScopes } }: GrantContext) {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
      grant.addOIDCScope([...requestParamScopes].join(' '))
      await grant.save()
      return grant
    },
  })
  callback = provider.callback()
  return known
}
