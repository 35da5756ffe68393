import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem, inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import { ownOrigin } from '../../../app/own-origin.ts'
import { Workspace } from '../../workspaces/workspace.entity.ts'
import { providerOf, standingOf, type OrganisationPlace, type Provider } from '../provider.ts'
import { careful, wrong, type SsoFinding } from './finding.ts'
import { examineOidc } from './oidc.ts'
import { examineSaml } from './saml.ts'

export type { SsoFinding, SsoFindingId } from './finding.ts'

type Needs = Pick<Deps, 'config' | 'vault' | 'level' | 'orm' | 'egress' | 'clock'>

/** The sign-in of an organisation, with all that is wrong with it. */
export interface SignInExamination {
  readonly organisation: string
  /** Null: it has no identity provider. */
  readonly provider: { readonly type: string; readonly name: string; readonly issuer: string; readonly source: string } | null
  readonly findings: readonly SsoFinding[]
}

/** Examines a provider by the rules of its type. */
const examineByType = (deps: Needs, provider: Provider): Promise<readonly SsoFinding[]> =>
  provider.saml === undefined ? examineOidc(deps, provider) : examineSaml(deps, provider, provider.saml)

/** Examines the identity provider of each organisation, or of the named one; empty when that does not exist. */
export async function examineProviders(deps: Needs, organisation?: string): Promise<readonly SignInExamination[]> {
  const rows = await asSystem(deps.orm, (em) =>
    em.execute<{ slug: string }[]>("SELECT slug FROM organisations WHERE status = 'active' ORDER BY created_at, id"),
  )
  const found: SignInExamination[] = []
  for (const { slug } of rows.filter((row) => organisation === undefined || row.slug === organisation))
    found.push(await examineOrganisation(deps, slug))
  return found
}

async function examineOrganisation(deps: Needs, slug: string): Promise<SignInExamination> {
  const standing = await standingOf(deps, { slug })
  const looked =
    standing &&
    (await inTenant(deps.orm, standing.id, async (em) => {
      const provider = await providerOf(em, deps, standing)
      return provider && { provider, own: [...ownFindings(deps, provider, standing), ...(await mappingFindings(em, provider))] }
    }))
  const onlySso = deps.config.authMode === 'SSO'
  if (!looked) {
    const findings = onlySso ? [wrong('sso-missing', `${slug} has none, and AUTH_MODE is SSO`)] : []
    return { organisation: slug, provider: null, findings }
  }
  const { provider, own } = looked
  const { type, name, issuer, source } = provider
  const off = provider.enabled ? [] : [(onlySso ? wrong : careful)('sso-off', `${name} is not enabled`)]
  const asked = await examineByType(deps, provider)
  return { organisation: slug, provider: { type, name, issuer, source }, findings: [...off, ...asked, ...own] }
}

/** Returns the faults on our side, independent of the provider's answers. */
function ownFindings({ config }: Needs, provider: Provider, standing: OrganisationPlace): readonly SsoFinding[] {
  const { redirectUri, domains, ownedDomains, role_mappings: mappings, group_claim: claim } = provider
  const foreign = domains.filter((domain) => !ownedDomains.includes(domain))
  return [
    ...redirectFindings(redirectUri, ownOrigin(config)),
    ...(provider.callback === 'shared' && !standing.isFirst
      ? [wrong('sso-shared-callback', `people of ${standing.slug} are sent back to ${redirectUri}`)]
      : []),
    ...(ownedDomains.length === 0
      ? [careful('sso-no-domain', domains.length === 0 ? 'none is set' : 'none of those that are set counts')]
      : []),
    ...(foreign.length === 0 ? [] : [careful('sso-domain-not-owned', foreign.join(', '))]),
    ...(mappings.length > 0 && claim === null ? [careful('sso-mapping-idle', `${mappings.length} mappings and no group_claim`)] : []),
  ]
}

function redirectFindings(redirectUri: string, origin: string): readonly SsoFinding[] {
  const url = new URL(redirectUri)
  if (url.origin !== origin) return [wrong('sso-redirect-uri', `people are sent back to ${url.origin}, and Gatehouse is at ${origin}`)]
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (isLocal) return [careful('sso-redirect-uri', `${redirectUri} works on this machine alone`)]
  return url.protocol === 'https:' ? [] : [careful('sso-redirect-uri', `${redirectUri} is not https`)]
}

async function mappingFindings(em: EntityManager, { role_mappings: mappings }: Provider): Promise<readonly SsoFinding[]> {
  const wanted = [...new Set(mappings.map(({ workspace_id: id }) => id))]
  const live = await em.find(Workspace, { id: { $in: wanted }, status: 'active' }, { fields: ['id'] })
  const gone = mappings.filter(({ workspace_id: id }) => !live.some((row) => row.id === id))
  return gone.map(({ group, workspace_id: id }) => careful('sso-mapping-gone', `${group} gives a role in ${id}`))
}
