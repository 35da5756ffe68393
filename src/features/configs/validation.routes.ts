import { z } from 'zod'
import { route } from '../../app/route.ts'
import { laterParts, gatewayConfig } from '../../gateway/ports/configs.ts'
import { atLevel } from '../../release/at-level.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { findConfig, readVersion } from './configs.ts'
import { validateConfig } from './validation.ts'
import { configSchema, validateBody, validation } from './validation.schema.ts'

export const readConfigSchema = route({
  method: 'GET',
  path: '/catalogue/config-schema',
  summary: 'Read the JSON Schema of configs at the release level of the installation',
  permission: 'configs.read',
  response: configSchema,
})(async ({ deps: { level } }) => ({
  object: 'config_schema' as const,
  release: level.release,
  schema: { ...z.toJSONSchema(atLevel(gatewayConfig, level.release, 'description'), { io: 'input', unrepresentable: 'any' }) },
  unsupported: laterParts.map(({ part, when }) => ({ part, when })),
}))

export const checkConfig = route({
  method: 'POST',
  path: '/configs/validate',
  summary: 'Look at a config as storing it would, and list all that is wrong with it',
  permission: ['configs.create', 'configs.update'],
  resource: 'config',
  effect: 'none',
  body: validateBody,
  response: validation,
})(async ({ em, actor, deps: { vault, egress, level, config }, body }) => {
  const row = body.slug === undefined ? null : await findConfig(em, actor, { reference: body.slug })
  const workspaceId = row?.workspaceId ?? (await resolveWorkspace(em, actor, body.workspace_id)).id
  const stored = row === null ? {} : await readVersion(em, row, vault)
  const home = { organisationId: actor.organisationId, workspaceId, stored }
  return validateConfig(em, body.config, { home, writing: { actor, vault, egress, level, maxAttempts: config.maxAttempts } })
})
