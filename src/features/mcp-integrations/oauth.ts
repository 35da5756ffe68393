import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import type { McpIntegration, OAuthFields } from './mcp-integration.entity.ts'
import type { GivenOAuth, UpdateMcpIntegration } from './mcp-integration.schema.ts'

interface Owner {
  readonly id: string
  readonly organisationId: string
}

const place = ({ id, organisationId }: Owner) => ({ organisationId, table: 'mcp_integrations', column: 'oauth_client_secret', rowId: id })

/** Opens the client secret of an integration; null: it has none. */
export const openClientSecret = async (
  row: Owner & { readonly oauthClientSecret?: Uint8Array | null | undefined },
  vault: Vault,
): Promise<string | null> => (row.oauthClientSecret ? vault.decrypt(place(row), row.oauthClientSecret) : null)

/** Returns the columns of settings, with the secret sealed. */
export async function sealOAuth(owner: Owner, given: GivenOAuth | null, vault: Vault) {
  if (given === null) return { oauth: null, oauthClientSecret: null }
  const secret = given.client_secret ?? null
  return { oauth: toFields(given), oauthClientSecret: secret === null ? null : Buffer.from(await vault.encrypt(place(owner), secret)) }
}

const toFields = ({ issuer, client_id: clientId, scopes, sends_resource: sendsResource }: GivenOAuth): OAuthFields => ({
  issuer: issuer ?? null,
  clientId: clientId ?? null,
  scopes: scopes ?? null,
  sendsResource,
})

/** Refuses client credentials without a client, and an authorization server that may not be asked. */
export async function demandOAuth(
  authType: McpIntegration['authType'],
  given: Pick<GivenOAuth, 'issuer' | 'client_id' | 'client_secret'> | null,
  egress: Deps['egress'],
): Promise<void> {
  if (given?.issuer) await egress.origin(new URL(given.issuer).origin, 'configurations.oauth.issuer')
  if (authType !== 'oauth_client_credentials' || (given?.client_id && given.client_secret)) return
  const param = 'configurations.oauth'
  throw new ApiError('AB01', `${param} needs issuer, client_id and client_secret with the auth_type "oauth_client_credentials".`, { param })
}

interface Change extends Pick<Deps, 'vault' | 'egress'> {
  readonly body: UpdateMcpIntegration
}

/**
 * Changes the settings of the sign-in. A secret that is not given again stays only with its client, its authorization server and the host of the server.
 * Tokens that were given before the change are forgotten.
 */
export async function changeOAuth(em: EntityManager, row: McpIntegration, { body, vault, egress }: Change): Promise<void> {
  const given = body.configurations === null ? null : body.configurations?.oauth
  const keepsSecret = given === undefined || isSameClient(row, given)
  if (keepsSecret && row.oauthClientSecret && isOtherHost(row, body)) throw secretAgain()
  await demandOAuth(body.auth_type ?? row.authType, settingsAfter(row, given, keepsSecret), egress)
  if (given !== undefined) {
    const { oauth, oauthClientSecret } = await sealOAuth(row, given, vault)
    assignDefined(row, { oauth, ...(!keepsSecret && { oauthClientSecret }) })
  }
  if (given !== undefined || isOtherServer(row, body)) await endGrants(em, row.id)
}

/** Returns the settings that a change leads to, with some text for a secret that stays. */
function settingsAfter({ oauth, oauthClientSecret }: McpIntegration, given: GivenOAuth | null | undefined, keepsSecret: boolean) {
  const secret = keepsSecret && oauthClientSecret ? { client_secret: 'kept' } : {}
  if (given === undefined) return { issuer: oauth?.issuer, client_id: oauth?.clientId, ...secret }
  return given === null ? null : { ...given, ...secret }
}

const isOtherHost = (row: McpIntegration, { url }: UpdateMcpIntegration): boolean =>
  url !== undefined && new URL(url).origin !== new URL(row.url).origin

const isOtherServer = (row: McpIntegration, { url, auth_type: authType }: UpdateMcpIntegration): boolean =>
  (url !== undefined && url !== row.url) || (authType !== undefined && authType !== row.authType)

/** Returns whether settings without a secret name the client whose secret is stored. */
const isSameClient = ({ oauth }: McpIntegration, given: GivenOAuth | null): boolean =>
  given !== null &&
  given.client_secret === undefined &&
  oauth?.clientId === (given.client_id ?? null) &&
  oauth.issuer === (given.issuer ?? null)

const secretAgain = () =>
  new ApiError('AB01', 'A stored secret only goes to the host it was stored with. To change the host, give configurations.oauth again.', {
    param: 'configurations.oauth',
  })

/** Forgets all tokens for the server of an integration: those of Gatehouse, and those of people. */
export const endGrants = async (em: EntityManager, integrationId: string): Promise<void> =>
  void (await em.execute('DELETE FROM mcp_grants WHERE integration_id = ?', [integrationId]))

/** The settings, but for the secret. */
export const presentOAuth = ({ oauth }: McpIntegration) =>
  oauth
    ? {
        issuer: oauth.issuer,
        client_id: oauth.clientId,
        scopes: oauth.scopes === null ? null : [...oauth.scopes],
        sends_resource: oauth.sendsResource,
      }
    : null
