import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import type { Deps } from '../../app/deps.ts'
import { type Actor, route } from '../../app/route.ts'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { type SecretReference as Reference, testSecret } from '../../gateway/ports/secrets.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { taggedWith } from '../../lib/text/tags.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { demandPair, parseAuth } from './auth-config.ts'
import { openAuth, toReference } from './mapped-secrets.ts'
import { SecretReference } from './secret-reference.entity.ts'
import {
  createReferenceBody,
  referenceFilter,
  referenceList,
  referenceMade,
  referenceParams,
  referenceRead,
  referenceTest,
  referenceView,
  testReferenceBody,
  updateReferenceBody,
} from './secret-reference.schema.ts'
import {
  addReference,
  archiveReference,
  changeReference,
  findReference,
  findToChange,
  presentReference,
  presentReferences,
  usersOf,
  visibleReferences,
} from './secret-references.ts'

const resource = 'secret-reference'
const empty = z.object({})

export const createReference = route({
  method: 'POST',
  path: '/secret-references',
  summary: 'Store where a secret is in an external manager, and how one signs in there',
  permission: 'secret_references.create',
  resource,
  body: createReferenceBody,
  response: referenceMade,
})(async ({ em, actor, deps, body, audit }) => {
  const { id, slug } = await addReference(em, body, { actor, ...deps })
  audit({ id, workspaceId: actor.workspaceId })
  return { id, slug, object: 'secret-reference' as const }
})

export const listReferences = route({
  method: 'GET',
  path: '/secret-references',
  summary: 'List secret references, with the outcome of the last read of each',
  permission: 'secret_references.list',
  query: referenceFilter,
  response: referenceList,
})(async ({ em, actor, deps, query }) => {
  const asked = { ...taggedWith(query.tags), ...(query.manager_type !== undefined && { managerType: query.manager_type }) }
  const where = { $and: [visibleReferences(actor), asked, searching(query.search, 'name', 'slug')] }
  const page = await findPage(em, SecretReference, { where, query, sorts: usualSorts })
  return toList(await presentReferences(em, page.rows, deps.clock.now()), page)
})

export const readReference = route({
  method: 'GET',
  path: '/secret-references/:secretReferenceId',
  summary: 'Read a secret reference, without any secret',
  permission: 'secret_references.read',
  params: referenceParams,
  query: referenceRead,
  response: referenceView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findReference(em, actor, { reference: params.secretReferenceId })
  const view = await presentReference(em, row, { actor, deps })
  return query.include_used_by ? { ...view, used_by: await usersOf(em, row, actor.workspaceId) } : view
})

export const updateReference = route({
  method: 'PUT',
  path: '/secret-references/:secretReferenceId',
  summary: 'Change a secret reference; its users read the new secret at once',
  permission: 'secret_references.update',
  resource,
  params: referenceParams,
  body: updateReferenceBody,
  response: empty,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findToChange(em, actor, params.secretReferenceId)
  await changeReference(em, row, { actor, body, ...deps })
  audit({ id: row.id, workspaceId: actor.workspaceId })
  return {}
})

export const deleteReference = route({
  method: 'DELETE',
  path: '/secret-references/:secretReferenceId',
  summary: 'Delete a secret reference; refused while integrations or virtual keys use it',
  permission: 'secret_references.delete',
  resource,
  params: referenceParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const row = await findToChange(em, actor, params.secretReferenceId)
  await archiveReference(em, row, actor)
  audit({ id: row.id, workspaceId: actor.workspaceId })
  return {}
})

export const testNewReference = route({
  method: 'POST',
  path: '/secret-references/test',
  summary: 'Try to read a secret step by step, without storing the reference',
  permission: 'secret_references.create',
  resource,
  effect: 'none',
  body: testReferenceBody,
  response: referenceTest,
})(async ({ em, actor, deps, body }) => {
  const auth = parseAuth({ manager: body.manager_type, given: body.auth_config, stored: null })
  demandPair(auth)
  const { organisationId } = actor
  const row = { id: uuidv7(), organisationId, slug: 'test', managerType: body.manager_type, secretPath: body.secret_path }
  const reference = toReference({ ...row, secretVersion: body.secret_version ?? null, secretKey: body.secret_key ?? null }, auth)
  return carryOut(em, reference, { actor, deps })
})

export const testReference = route({
  method: 'POST',
  path: '/secret-references/:secretReferenceId/test',
  summary: 'Try to read the secret of a stored reference step by step',
  permission: 'secret_references.update',
  resource,
  effect: 'none',
  params: referenceParams,
  response: referenceTest,
})(async ({ em, actor, deps, params }) => {
  const row = await findToChange(em, actor, params.secretReferenceId)
  return carryOut(em, toReference(row, await openAuth(row, deps.vault)), { actor, deps })
})

async function carryOut(em: EntityManager, reference: Reference, { actor, deps }: { actor: Actor; deps: Deps }) {
  const { settings } = await em.findOneOrFail(Organisation, { id: actor.organisationId })
  const { egress, signing, clock, config } = deps
  const { timeoutMs } = config.secretTimes
  const testing = { egress, allowedHosts: allowedHostsOf(settings), workload: signing.workload, now: () => clock.now(), timeoutMs }
  const { steps, fields } = await inTrial(egress, actor.organisationId, () => testSecret(reference, testing))
  return {
    object: 'secret_reference_test' as const,
    passed: steps.every(({ status }) => status === 'passed'),
    steps: steps.map(({ step, status, durationMs, message, code }) => ({ step, status, execution_time: durationMs, message, code })),
    fields: fields === null ? null : [...fields],
  }
}
