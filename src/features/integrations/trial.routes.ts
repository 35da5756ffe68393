import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { type Actor, route } from '../../app/route.ts'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { testProvider } from '../../gateway/ports/providers.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { readMappings } from '../secret-references/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import type { Integration } from './integration.entity.ts'
import { demandWrite, findIntegration, integrationScopes } from './access.ts'
import { parseConfigurations } from './configurations.ts'
import { loadCredential, type StoredCredential, storedTarget, toStored } from './credential.ts'
import { integrationParams } from './integration.schema.ts'
import { integrationTest, testIntegrationBody } from './trial.schema.ts'

const resource = 'integration'

export const testNewIntegration = route({
  method: 'POST',
  path: '/integrations/test',
  summary: 'Try a provider account step by step, without storing it',
  permission: integrationScopes('create'),
  resource,
  effect: 'none',
  body: testIntegrationBody,
  response: integrationTest,
})(async ({ em, actor, deps, body }) => {
  const { ai_provider_id: aiProviderId, key = null } = body
  demandWrite(actor, await workspaceFilter(em, actor, body.workspace_id), 'create')
  const configurations = parseConfigurations(body.configurations ?? {}, { aiProviderId, hasKey: key !== null, level: deps.level })
  return carryOut(em, { aiProviderId, stored: toStored(key, configurations) }, { actor, deps })
})

export const testIntegration = route({
  method: 'POST',
  path: '/integrations/:slug/test',
  summary: 'Try a stored provider account step by step',
  permission: integrationScopes('update'),
  resource,
  effect: 'none',
  params: integrationParams,
  response: integrationTest,
})(async ({ em, actor, deps, params }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'read' })
  demandWrite(actor, row.workspaceId, 'update')
  return carryOut(
    em,
    { aiProviderId: row.aiProviderId, stored: await loadCredential(await sealedOf(em, row), deps.vault) },
    { actor, deps },
  )
})

/** The row with the secrets that are mapped into it, for the workspace that it belongs to. */
const sealedOf = async (em: EntityManager, row: Integration) => ({
  id: row.id,
  organisationId: row.organisationId,
  credential: row.credential,
  configurations: row.configurations,
  secretConfigurations: row.secretConfigurations,
  mapped: { secrets: await readMappings(em, row.id), workspaceId: row.workspaceId ?? null },
})

interface Account {
  readonly aiProviderId: string
  readonly stored: StoredCredential
}

async function carryOut(em: EntityManager, { aiProviderId, stored }: Account, { actor, deps }: { actor: Actor; deps: Deps }) {
  const { settings } = await em.findOneOrFail(Organisation, { id: actor.organisationId })
  const target = storedTarget(aiProviderId, stored, actor.organisationId)
  const { egress, signing } = deps
  const testing = { egress: egress.ownedBy(actor.organisationId), signing, allowedHosts: allowedHostsOf(settings) }
  const { origin, steps, models } = await inTrial(egress, actor.organisationId, () => testProvider(target, testing))
  return {
    object: 'integration_test' as const,
    passed: steps.every(({ status }) => status !== 'failed'),
    ai_provider_id: aiProviderId,
    origin,
    steps: steps.map(({ step, status, durationMs, message, code }) => ({ step, status, execution_time: durationMs, message, code })),
    models: models === null ? null : { total: models.length, ids: models.slice(0, 100) },
  }
}
