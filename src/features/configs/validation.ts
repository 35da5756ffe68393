import type { EntityManager } from '@mikro-orm/postgresql'
import { gatewayConfig, type GatewayConfig, unsupportedParts } from '../../gateway/ports/configs.ts'
import { withPatterns } from '../../gateway/ports/patterns.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Issue } from '../../lib/issue.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { schemaFaults, toIssues } from '../../lib/json/schema-faults.ts'
import { maskFault, restoreSecrets } from '../../lib/text/masked-secrets.ts'
import { atLevel } from '../../release/at-level.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'
import { tooLarge } from './config.schema.ts'
import { moved, type WriteContext } from './configs.ts'
import { refuseLaterChecks } from './levels.ts'
import { refuseManyTargets } from './many-targets.ts'
import { providersNamedIn, refuseUnusableGuardrails } from './references.ts'
import { configSecrets } from './secrets.ts'
import { refuseUnbilled } from './unbilled.ts'
import { checkUrls } from './urls.ts'

/** The home of a config that is looked at. */
export interface Home {
  readonly organisationId: string
  readonly workspaceId: string
  /** The content that counts now, when a config would be changed; else an empty one. */
  readonly stored: unknown
}

/** Looks at a config as storing it would, and returns all that it finds. */
export async function validateConfig(em: EntityManager, given: unknown, { home, writing }: { home: Home; writing: WriteContext }) {
  const size = tooLarge(given)
  if (size !== null) return report([{ param: 'config', code: 'invalid_value', message: size }])
  const schema = atLevel(gatewayConfig, writing.level.release, 'request')
  const { result } = await withPatterns({ owner: home.organisationId }, () => parseGiven(schema, given))
  if (!result.success) return report(toIssues(schemaFaults(result.error, { value: given, above: 'config', whole: 'config' })))
  const config = result.data
  const issues = await faultsOf(em, config, { home, writing })
  return report(issues, {
    unsupported: unsupportedParts(config).map((param) => ({ param, message: 'This release stores it and cannot carry it out yet.' })),
    missing: await missingIn(em, config, home),
  })
}

interface ValidationFindings {
  readonly unsupported: readonly { readonly param: string; readonly message: string }[]
  readonly missing: readonly { readonly kind: 'provider'; readonly reference: string; readonly message: string }[]
}

const report = (issues: readonly Issue[], { unsupported, missing }: ValidationFindings = { unsupported: [], missing: [] }) => ({
  object: 'config_validation' as const,
  valid: issues.length === 0,
  issues: [...issues],
  unsupported: [...unsupported],
  missing: [...missing],
})

/** Each looks at the whole config, and throws for the first fault of its kind. */
async function faultsOf(
  em: EntityManager,
  config: GatewayConfig,
  { home, writing }: { readonly home: Home; readonly writing: WriteContext },
): Promise<readonly Issue[]> {
  const looks: readonly (() => unknown)[] = [
    () => refuseMasks(config, home.stored),
    () => refuseLaterChecks(config, writing.level),
    () => refuseUnbilled(config, writing.actor),
    () => refuseManyTargets(config, writing.maxAttempts),
    () => checkUrls(config, writing.egress),
    () => refuseUnusableGuardrails(em, { row: home, vault: writing.vault }, config),
  ]
  const issues: Issue[] = []
  for (const look of looks)
    try {
      await look()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      issues.push({ param: error.param ?? 'config', code: 'invalid_value', message: error.message })
    }
  return issues
}

function refuseMasks(config: GatewayConfig, stored: unknown): void {
  const outcome = restoreSecrets(config, stored, configSecrets)
  if ('fault' in outcome) throw maskFault(`config.${pathText(outcome.fault.path)}`, outcome.fault.reason, moved)
}

async function missingIn(
  em: EntityManager,
  config: GatewayConfig,
  { organisationId, workspaceId }: Home,
): Promise<ValidationFindings['missing']> {
  const named = [...providersNamedIn(config)]
  const rows = await em.find(ProviderEntity, { organisationId, workspaceId, status: 'active', slug: { $in: named } }, { fields: ['slug'] })
  const known = new Set(rows.map(({ slug }) => slug))
  return named
    .filter((slug) => !known.has(slug))
    .map((slug) => ({ kind: 'provider', reference: slug, message: `There is no provider or virtual key "@${slug}" in this workspace.` }))
}
