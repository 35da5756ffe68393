import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Provider, type GrantContext } from 'oidc-provider'
import type { Certificate } from '../certificates.ts'

type Claims = Readonly<Record<string, unknown>>

/** A client of the provider. */
export interface CertifiedClient {
  readonly client_id: string
  readonly [name: string]: unknown
}

/** The certified provider `oidc-provider`, with people who never have to type anything. */
export interface CertifiedProvider {
  readonly issuer: string
  /** The person who signs in next, with their claims. */
  person: { readonly sub: string; readonly claims: Claims }
  close(): void
}

/** `tls`: the certificate of `localhost` with which it is reached. */
export async function startCertified(clients: readonly CertifiedClient[], jwks: Claims, tls?: Certificate): Promise<CertifiedProvider> {
  let callback: RequestListener | null = null
  const listen: RequestListener = (req, res) => {
    if (req.url !== '/interaction') return callback?.(req, res)
    people.set(known.person.sub, known.person.claims)
    return provider.interactionFinished(req, res, { login: { accountId: known.person.sub } })
  }
  const server = tls === undefined ? createServer(listen) : createTlsServer({ cert: tls.cert, key: tls.key }, listen)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const issuer = tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`
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
      profile: ['given_name', 'family_name', 'groups', 'realm_access', 'hasgroups'],
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
