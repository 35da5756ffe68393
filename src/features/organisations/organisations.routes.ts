import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { byIdOrSlug, orNotFound } from '../../app/database/find.ts'
import { findPage } from '../../app/database/list.ts'
import { route, type Actor } from '../../app/route.ts'
import type { Config } from '../../config/config.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { allowedHosts } from '../../lib/allowed-hosts.ts'
import { assignDefined, mergeFields } from '../../lib/assign-defined.ts'
import { deniedFields } from '../../lib/access/export-settings.ts'
import { enforcedMetadata } from '../../lib/access/enforced-metadata.ts'
import { groupBasedProvisioning } from '../../lib/access/provisioning-settings.ts'
import { toList, usualSorts } from '../../lib/paging.ts'
import { userKeySettings } from '../../lib/access/user-key-settings.ts'
import { demandGuardrails } from '../references/index.ts'
import { Organisation } from './organisation.entity.ts'
import {
  defaultsBody,
  defaultsView,
  organisationFilter,
  organisationList,
  organisationParams,
  organisationView,
  updateOrganisationBody,
} from './organisation.schema.ts'
import { issuerChange } from './token-issuer.ts'

const permission = 'organisation_settings.read'
const resource = 'organisation'
const empty = z.object({})

export const readOwnOrganisation = route({
  method: 'GET',
  path: '/admin/organisation',
  summary: 'Read the organisation of the key',
  permission,
  response: organisationView,
})(async ({ em, actor, deps }) => presentOrganisation(await find(em, actor, actor.organisationId), deps.config))

export const updateOrganisation = route({
  method: 'PUT',
  path: '/admin/organisation',
  summary: 'Change the name, settings and defaults of the organisation of the key',
  permission: 'organisation_settings.update',
  resource,
  body: updateOrganisationBody,
  response: empty,
})(async ({ em, actor, deps, body, audit }) => {
  const url = body.settings?.jwt?.jwks_url
  if (url !== undefined) await deps.egress.origin(url.split('?', 1)[0] ?? url, 'settings.jwt.jwks_url')
  if ([body.settings?.jwt?.audience].flat().includes('*'))
    deps.log.warn(
      { org: actor.organisationId },
      'settings.jwt takes any audience: a token that its issuer made for another service is good here too',
    )
  await demandGuardrails(em, { home: homeOf(actor), vault: deps.vault }, { defaults: body.defaults, path: 'defaults' })
  const row = await own(em, actor)
  const settings = mergeFields(row.settings, body.settings)
  assignDefined(row, {
    name: body.name,
    settings,
    ...issuerChange({ actor, deps }, row.settings, settings),
    defaults: mergeFields(row.defaults, body.defaults),
  })
  audit({ id: row.id })
  return {}
})

export const readDefaults = route({
  method: 'GET',
  path: '/admin/organisation/defaults',
  summary: 'Read the guardrails that every request of the organisation passes',
  permission,
  response: defaultsView,
})(async ({ em, actor }) => presentDefaults(await find(em, actor, actor.organisationId)))

export const updateDefaults = route({
  method: 'PUT',
  path: '/admin/organisation/defaults',
  summary: 'Change the guardrails that every request of the organisation passes',
  permission: 'organisation_settings.update',
  resource,
  body: defaultsBody,
  response: defaultsView,
})(async ({ em, actor, deps, body, audit }) => {
  await demandGuardrails(em, { home: homeOf(actor), vault: deps.vault }, { defaults: body, path: null })
  const row = await own(em, actor)
  row.defaults = mergeFields(row.defaults, body) ?? {}
  audit({ id: row.id })
  return presentDefaults(row)
})

export const listOrganisations = route({
  method: 'GET',
  path: '/organisations',
  summary: 'List the organisations that the key may see',
  permission,
  query: organisationFilter,
  response: organisationList,
})(async ({ em, actor, query, deps }) => {
  const page = await findPage(em, Organisation, { where: { id: actor.organisationId, status: 'active' }, query, sorts: usualSorts })
  return toList(
    page.rows.map((row) => presentOrganisation(row, deps.config)),
    page,
  )
})

export const readOrganisation = route({
  method: 'GET',
  path: '/organisations/:id',
  summary: 'Read an organisation by id or slug; `self` is that of the key',
  permission,
  params: organisationParams,
  response: organisationView,
})(async ({ em, actor, params: { id }, deps }) =>
  presentOrganisation(await find(em, actor, id === 'self' ? actor.organisationId : id), deps.config),
)

async function find(em: EntityManager, actor: Actor, reference: string): Promise<Organisation> {
  const row = await em.findOne(Organisation, { $and: [byIdOrSlug(reference), { id: actor.organisationId, status: 'active' }] })
  return orNotFound(row, 'organisation', reference)
}

/**
 * Locked, because it is about to change; but not its key: another writer in the organisation has the end of its audit chain when it refers to this
 * row, and this write will want that end.
 */
async function own(em: EntityManager, { organisationId }: Actor): Promise<Organisation> {
  await em.execute('SELECT 1 FROM organisations WHERE id = ? FOR NO KEY UPDATE', [organisationId])
  return em.findOneOrFail(Organisation, { id: organisationId })
}

const homeOf = ({ organisationId }: Actor) => ({ organisationId, workspaceId: null })

const presentSettings = ({ settings }: Organisation) => ({
  ...effectiveSettings(settings, {}),
  ...userKeySettings(settings, {}),
  ...enforcedMetadata(settings),
  allowed_custom_hosts: allowedHosts(settings),
  export_settings: { deniedFields: deniedFields(settings) },
  group_based_user_provisioning: groupBasedProvisioning(settings),
  jwt: settings['jwt'] ?? null,
  session_settings: settings['session_settings'] ?? null,
})

const presentOrganisation = (row: Organisation, { shownRetentionDays }: Pick<Config, 'shownRetentionDays'>) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  status: row.status,
  settings: presentSettings(row),
  defaults: { ...row.defaults },
  log_retention_display: shownRetentionDays.logs,
  metrics_retention_display: shownRetentionDays.metrics,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'organisation' as const,
})

const presentDefaults = ({ defaults }: Organisation) => {
  const { input_guardrails = [], output_guardrails = [] } = storedDefaults.parse(defaults)
  return { input_guardrails, output_guardrails }
}

const storedDefaults = z.object({ input_guardrails: z.array(z.string()).optional(), output_guardrails: z.array(z.string()).optional() })
