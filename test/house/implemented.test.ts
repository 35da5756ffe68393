// A feature counts as implemented when the code shows a trace of it at its release: a name in a list alone proves no behaviour.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import type { Feature } from '../../src/app/feature.ts'
import { readOwnTable } from '../../src/app/level/release-records.ts'
import { features } from '../../src/features/index.ts'
import type { ReleaseRecord } from '../../src/release/record.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { releases } = readOwnTable()

/** The file that asks for the release, or marks a part with it, where neither a route nor a recorded field nor a setting shows the feature. */
const marked: Readonly<Record<string, string>> = {
  '1.3.1 guardrail-add-prefix': 'src/gateway/checks/default/add-prefix.ts',
  '1.3.1 guardrail-allowed-request-types': 'src/gateway/checks/default/allowed-request-types.ts',
  '1.3.3 guardrails': 'src/gateway/checks/default/jwt.ts',
  '1.4.0 email-templates': 'src/config/settings.ts',
  '1.5.1 guardrail-partner-backend': 'src/gateway/checks/partners/f5.ts',
  '1.5.1 logs': 'src/features/logs/logs.routes.ts',
  '1.6.0 provider-region': 'src/gateway/providers/provider-fields.ts',
  '1.6.1 plugin-providers': 'src/gateway/checks/partners/qualifire.ts',
  '1.6.1 guardrail-request-parameters': 'src/gateway/checks/default/request-parameters.ts',
  '1.6.1 scim': 'src/features/scim/resources/group-write.ts',
  '1.7.0 budget-auto-reactivation': 'src/features/limits/reactivation.ts',
  '1.7.1 scim': 'src/features/scim/list-query.ts',
  '1.7.3 jwt-scopes': 'src/app/start/open-planes.ts',
  '1.8.0 guardrail-partner-redaction': 'src/gateway/checks/partners/crowdstrike.ts',
  '1.8.0 alerts': 'src/features/alerts/tell.jobs.ts',
  '1.8.0 api-keys': 'src/features/api-keys/user-keys.ts',
  '1.12.0 guardrail-partner-scanner': 'src/gateway/checks/partners/zscaler.ts',
  '1.12.0 analytics': 'src/features/analytics/usage-of.ts',
  '1.12.0 jwt-authentication': 'src/app/start/open-planes.ts',
}

/** The faults that a release mended. Older levels of a later build are right from the beginning: it brings no fault back. */
const mended: ReadonlySet<string> = new Set([
  '1.3.2 prompts',
  '1.5.1 workspaces',
  '1.7.0 guardrails',
  '1.7.1 sso-auto-provisioning',
  '1.11.0 alerts',
  '1.11.0 model-catalog',
  '1.11.0 model-pricing-sources',
  '1.11.1 usage-limits',
])

/** The first release has no level before it, so that its parts are shown by the code that has them. */
const first: Readonly<Record<string, string>> = {
  'configs-security': 'src/lib/access/access-settings.ts',
  'user-api-key-limits': 'src/lib/access/user-key-settings.ts',
  'workspace-budget-reset': 'src/features/workspaces/workspace.schema.ts',
  'provider-service-auth': 'src/gateway/credentials/aws.ts',
}

const parts = ['routes', 'files', 'protocols', 'jobs', 'authenticators'] as const

/** Returns true if a feature itself, the record's fields or a setting of the release show that the code has it. */
function isShown({ fields, notes, env }: ReleaseRecord, feature: Feature, isNew: boolean): boolean {
  if (isNew && (feature.views !== undefined || parts.some((part) => (feature[part]?.length ?? 0) > 0))) return true
  if (Object.keys(fields[feature.id] ?? {}).length > 0) return true
  return notes.some(({ of }) => of.includes(feature.id) && of.some((name) => env.added.includes(name)))
}

const claims = releases.flatMap((release) =>
  [...release.features.added, ...release.features.changed].flatMap((id) => {
    const found = features.find((one) => one.id === id && one.incomplete === undefined)
    return found === undefined
      ? []
      : [{ release, feature: found, name: `${release.version} ${id}`, isNew: found.since === release.version }]
  }),
)
const bare = claims.filter(({ release, feature, isNew }) => !isShown(release, feature, isNew))

test('each feature that counts as implemented is shown by a route, a field, a job, a setting, or a read of the level', (t) => {
  t.true(claims.length > 60)
  for (const { release, feature, name } of bare) {
    if (mended.has(name)) continue
    const file = release === releases[0] ? first[feature.id] : marked[name]
    if (file === undefined) {
      t.fail(`${name} has neither routes nor recorded fields nor settings, and no file is named that asks for its release`)
      continue
    }
    const text = readFileSync(path.join(root, file), 'utf8')
    if (release !== releases[0])
      t.regex(text, new RegExp(String.raw`(?:since: |since\(\s*|atLeast\()'${release.version}'`), `${name}: ${file}`)
  }
})

test('no place is named for a feature that shows itself', (t) => {
  const names = new Set(bare.map(({ name }) => name))
  for (const name of [...Object.keys(marked), ...mended]) t.true(names.has(name), name)
  for (const id of Object.keys(first))
    t.true(
      bare.some(({ feature, release }) => feature.id === id && release === releases[0]),
      id,
    )
})
