import type { EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, orNotFound } from '../../app/database/find.ts'
import { route, type Actor } from '../../app/route.ts'
import { pageWindow, toList } from '../../lib/paging.ts'
import { Organisation } from './organisation.entity.ts'
import { organisationFilter, organisationList, organisationParams, organisationView } from './organisation.schema.ts'

const permission = 'organisation_settings.read'

export const readOwnOrganisation = route({
  method: 'GET',
  path: '/admin/organisation',
  summary: 'Read the organisation of the key',
  permission,
  response: organisationView,
})(async ({ em, actor }) => presentOrganisation(await find(em, actor, actor.organisationId)))

export const listOrganisations = route({
  method: 'GET',
  path: '/organisations',
  summary: 'List the organisations that the key may see',
  permission,
  query: organisationFilter,
  response: organisationList,
})(async ({ em, actor, query }) => {
  const [rows, total] = await em.findAndCount(Organisation, { id: actor.organisationId, status: 'active' }, pageWindow(query))
  return toList(rows.map(presentOrganisation), total, query)
})

export const readOrganisation = route({
  method: 'GET',
  path: '/organisations/:id',
  summary: 'Read an organisation by id or slug',
  permission,
  params: organisationParams,
  response: organisationView,
})(async ({ em, actor, params }) => presentOrganisation(await find(em, actor, params.id)))

async function find(em: EntityManager, actor: Actor, reference: string): Promise<Organisation> {
  const row = await em.findOne(Organisation, { $and: [byIdOrSlug(reference), { id: actor.organisationId, status: 'active' }] })
  return orNotFound(row, 'organisation', reference)
}

const presentOrganisation = (row: Organisation) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  status: row.status,
  settings: row.settings,
  defaults: row.defaults,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'organisation' as const,
})
