import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { inParallel } from '../../support/in-parallel.ts'
import { credentialsOf, keyCredential, personOf, sessionOf, type Credential, type Rank, type Reply } from './ranks.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/** The credentials that lift a limit set by a person of some rank: compared with a reviewed file, which `UPDATE_GOLDEN=1` writes. */
const golden = join(import.meta.dirname, '../../golden/limit-setters.txt')

let control: Control
let acme: Tenant
let admin: Credential
const names = { config: '', guardrail: '', integration: '' }
test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  admin = keyCredential(control, 'admin', acme.adminKey)
  const check = { id: 'default.contains', parameters: { words: ['never'], operator: 'none' } }
  names.guardrail = await madeBy(admin, '/guardrails', { name: 'Guard', checks: [check], actions: { onFail: 'block' } }, 'slug')
  names.config = await madeBy(
    admin,
    '/configs',
    { name: 'Config', config: { retry: { attempts: 1 } }, workspace_id: acme.workspaceId },
    'slug',
  )
  const integration = { name: 'Account', slug: 'account', ai_provider_id: 'openai', key: 'sk-stored', create_default_provider: false }
  names.integration = await madeBy(admin, '/integrations', integration, 'slug')
  await asked(admin, 'PUT', '/integrations/account/workspaces', { global_workspace_access: { enabled: true } })
})
test.after.always(() => control?.close())

async function asked(by: Credential, method: string, path: string, body: unknown): Promise<Reply> {
  const reply = await by.ask(method, path, body)
  if (reply.status !== 200) throw new Error(`${by.name} ${method} ${path}: ${reply.status} ${reply.text}`)
  return reply
}

async function madeBy(by: Credential, path: string, body: unknown, field = 'id'): Promise<string> {
  const { body: made, text } = await asked(by, 'POST', path, body)
  const value = made[field]
  if (typeof value !== 'string') throw new Error(`${path}: ${text}`)
  return value
}

const cost = { type: 'cost', credit_limit: 10 }
const rate = { type: 'requests', unit: 'rpm', value: 10 }

const soon = '2100-01-01T00:00:00.000Z'
const later = '2101-01-01T00:00:00.000Z'

/** A kind of limit: how a person sets one, and how others try to be rid of it. */
interface Kind {
  readonly name: string
  readonly set: (by: Credential) => Promise<string>
  readonly lift: (by: Credential, id: string) => Promise<Reply>
}

const workspace = () => `/admin/workspaces/${acme.workspaceId}`

/** The only workspace has no limit again before the next one is set. */
async function ofWorkspace(by: Credential, body: object): Promise<string> {
  await control.sql.query(
    `UPDATE workspaces SET setter_ranks = '{}', usage_limits = '[]', rate_limits = '[]', defaults = '{}' WHERE id = $1`,
    [acme.workspaceId],
  )
  await asked(by, 'PUT', workspace(), body)
  return acme.workspaceId
}

const workspaceKinds: readonly Kind[] = (
  [
    ['the usage limits of a workspace', () => ({ usage_limits: [cost] }), { usage_limits: null }],
    [
      'the usage limits of a workspace, by a higher one',
      () => ({ usage_limits: [cost] }),
      { usage_limits: [{ ...cost, credit_limit: 1000 }] },
    ],
    ['the usage limits of a workspace, by a reset', () => ({ usage_limits: [cost] }), { reset_usage: true }],
    ['the rate limits of a workspace', () => ({ rate_limits: [rate] }), { rate_limits: [] }],
    [
      'the config of the user keys of a workspace',
      () => ({ defaults: { user_api_key_config: names.config } }),
      { defaults: { user_api_key_config: null } },
    ],
    ['the guardrails of a workspace', () => ({ defaults: { input_guardrails: [names.guardrail] } }), { defaults: null }],
  ] as const
).map(([name, set, lift]) => ({
  name,
  set: (by) => ofWorkspace(by, set()),
  lift: (by) => by.ask('PUT', workspace(), lift),
}))

const keyKinds: readonly Kind[] = (
  [
    ['the usage limits of a key', () => ({ usage_limits: cost }), { usage_limits: null }],
    ['the usage limits of a key, by a reset', () => ({ usage_limits: cost }), { reset_usage: true }],
    ['the rate limits of a key', () => ({ rate_limits: [rate] }), { rate_limits: null }],
    ['the end of a key, by a later one', () => ({ expires_at: soon }), { expires_at: later }],
    ['the end of a key, by none', () => ({ expires_at: soon }), { expires_at: null }],
    ['the mails about a key', () => ({ alert_emails: ['costs@acme.example'] }), { alert_emails: null }],
    ['the rotation of a key', () => ({ rotation_policy: { rotation_period: 'weekly' } }), { rotation_policy: null }],
    [
      'the config of a key that may use no other',
      () => ({ defaults: { config_id: names.config, allow_config_override: false } }),
      { defaults: { allow_config_override: true } },
    ],
    [
      'the config of a key that may use no other, by another',
      () => ({ defaults: { config_id: names.config, allow_config_override: false } }),
      { defaults: { config_id: null } },
    ],
  ] as const
).map(([name, set, lift]) => ({
  name,
  set: (by) =>
    madeBy(by, '/api-keys/workspace/service', { name: 'Limited', workspace_id: acme.workspaceId, scopes: ['logs.list'], ...set() }),
  lift: (by, id) => by.ask('PUT', `/api-keys/${id}`, lift),
}))

const providerKinds: readonly Kind[] = (['providers', 'virtual-keys'] as const).flatMap((path) =>
  (
    [
      ['usage limits', { usage_limits: cost }, { usage_limits: null }],
      ['usage limits, by a reset', { usage_limits: cost }, { reset_usage: true }],
      ['rate limits', { rate_limits: [rate] }, { rate_limits: null }],
      ['end', { expires_at: soon }, { expires_at: later }],
    ] as const
  ).map(([name, limit, lift]): Kind => ({
    name: `of ${path} the ${name}`,
    async set(by) {
      const slug = `p-${randomUUID()}`
      const account = path === 'providers' ? { integration_id: names.integration } : { provider: 'openai', key: 'sk-own' }
      await asked(by, 'POST', `/${path}`, { name: slug, workspace_id: acme.workspaceId, ...account, ...limit })
      return slug
    },
    lift: (by, slug) => by.ask('PUT', `/${path}/${slug}?workspace_id=${acme.workspaceId}`, lift),
  })),
)

const policy = { conditions: [{ key: 'workspace_id', value: '*' }], group_by: [{ key: 'api_key' }] }

const policyKinds: readonly Kind[] = (
  [
    ['a usage policy', 'usage-limits', cost, 'PUT', '', { credit_limit: 1000 }],
    ['a usage policy, by its periods', 'usage-limits', cost, 'PUT', '', { periodic_reset: 'weekly' }],
    ['a usage policy, by a reset', 'usage-limits', cost, 'PUT', `/entities/${randomUUID()}/reset`, {}],
    ['a usage policy, away', 'usage-limits', cost, 'DELETE', '', undefined],
    ['a rate policy', 'rate-limits', rate, 'PUT', '', { value: 1000 }],
    ['a rate policy, away', 'rate-limits', rate, 'DELETE', '', undefined],
  ] as const
).map(([name, path, limit, method, more, body]) => ({
  name,
  set: (by) => madeBy(by, `/policies/${path}`, { ...policy, ...limit, workspace_id: acme.workspaceId }),
  lift: (by, id) => by.ask(method, `/policies/${path}/${id}${more}`, body),
}))

const receiver = 'http://127.0.0.1:8899/alerts'

const webhookKinds: readonly Kind[] = (
  [
    ['a receiver of alerts, by another address', 'PUT', { url: 'http://127.0.0.1:8899/others' }],
    ['a receiver of alerts, by its events', 'PUT', { events: ['usage.threshold_reached'] }],
    ['a receiver of alerts, by a new secret', 'PUT', { rotate_secret: true }],
    ['a receiver of alerts, away', 'DELETE', undefined],
  ] as const
).map(([name, method, body]) => ({
  name,
  async set(by) {
    await control.sql.query(`UPDATE alert_webhooks SET status = 'archived' WHERE workspace_id = $1`, [acme.workspaceId])
    return madeBy(by, '/alert-webhooks', { name: 'Receiver', url: receiver, workspace_id: acme.workspaceId })
  },
  lift: (by, id) => by.ask(method, `/alert-webhooks/${id}`, body),
}))

const check = (words: readonly string[]) => ({ id: 'default.contains', parameters: { words, operator: 'none' } })

/** Returns the slug of a new guardrail of the workspace, and of a config that names it. */
async function ownContents(): Promise<{ readonly guardrail: string; readonly config: string }> {
  const guardrail = await madeBy(
    admin,
    '/guardrails',
    { name: 'Own', workspace_id: acme.workspaceId, checks: [check(['never'])], actions: { onFail: 'block' } },
    'slug',
  )
  const config = { input_guardrails: [guardrail] }
  return { guardrail, config: await madeBy(admin, '/configs', { name: 'Own', config, workspace_id: acme.workspaceId }, 'slug') }
}

/** Contents that something is bound to; the ones that are bound to nothing are everybody's who may write them. */
const contentKinds: readonly Kind[] = (
  [
    ['the checks of a guardrail that a workspace runs', true, { checks: [check(['other'])] }],
    ['the actions of a guardrail that a workspace runs', true, { actions: { onFail: 'log' } }],
    ['the content of a config that binds a key', false, { config: { retry: { attempts: 2 } } }],
    ['the checks of a guardrail in a config that binds a key', true, { checks: [check(['other'])] }],
  ] as const
).map(([name, isGuardrail, body]) => ({
  name,
  async set(by) {
    const { guardrail, config } = await ownContents()
    if (name.includes('binds a key')) {
      const defaults = { config_id: config, allow_config_override: false }
      const key = { name: 'Bound', workspace_id: acme.workspaceId, scopes: ['logs.list'], defaults }
      await asked(by, 'POST', '/api-keys/workspace/service', key)
    } else await ofWorkspace(by, { defaults: { input_guardrails: [guardrail] } })
    return isGuardrail ? `/guardrails/${guardrail}` : `/configs/${config}`
  },
  lift: (by, path) => by.ask('PUT', path, body),
}))

const isOfKey = ({ name }: Kind): boolean => name.includes('binds a key')
const boundKinds = contentKinds.filter(isOfKey)
const runKinds = contentKinds.filter((kind) => !isOfKey(kind))

const setters = ['O', 'A', 'a', 'g'] as const satisfies readonly Rank[]

/**
 * One line a credential: the ranks of the setters whose limit it lifts. A usage that was never counted cannot be started again by a caller without
 * access.
 */
async function tableOf({ name, set, lift }: Kind, { persons, credentials }: People): Promise<readonly string[]> {
  const cells = credentials.map(() => '')
  for (const [rank, setter] of persons) {
    // A refusal leaves the limit as it is, for the next credential to try.
    let standing: string | null = null
    for (const [at, by] of credentials.entries()) {
      standing ??= await set(setter)
      const { status, text } = await lift(by, standing)
      const isUncounted = status === 404 && text.includes('There is no usage')
      if (status !== 200 && status !== 403 && !isUncounted) throw new Error(`${name}, ${by.name}: ${status} ${text}`)
      cells[at] += status === 403 ? '-' : rank
      if (status !== 403) standing = null
    }
  }
  return ['', `## lifts ${name} set by`, '', ...credentials.map((by, at) => `${by.name.padEnd(44)} ${cells[at]}`)]
}

interface People {
  readonly persons: readonly (readonly [rank: Rank, session: Credential])[]
  readonly credentials: readonly Credential[]
}

const settersOf = (): Promise<People['persons']> =>
  Promise.all(setters.map(async (rank) => [rank, await sessionOf(control, await personOf(control, acme, rank), `setter ${rank}`)] as const))

test.serial('who lifts which limits is as the reviewed file says', async (t) => {
  t.timeout(300_000)
  const people = { persons: await settersOf(), credentials: await credentialsOf(control, acme) }
  const groups = [[...workspaceKinds, ...runKinds], boundKinds, keyKinds, providerKinds, policyKinds, webhookKinds]
  const tables = await inParallel(groups, groups.length, async (kinds) => {
    const lines: string[] = []
    for (const kind of kinds) lines.push(...(await tableOf(kind, people)))
    return lines
  })
  const text = readFileSync(golden, 'utf8')
  const [head = ''] = text.split('\n## ', 1)
  const now = `${head.trimEnd()}\n${tables.flat().join('\n')}\n`
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, now)
  t.deepEqual(now.split('\n'), readFileSync(golden, 'utf8').split('\n'))
})

test.serial('what is sent again as it is is no change, and a limit that was taken away is free again', async (t) => {
  const manager = await sessionOf(control, await personOf(control, acme, 'g'), 'manager')
  await ofWorkspace(admin, { usage_limits: [cost], rate_limits: [rate], defaults: { input_guardrails: [names.guardrail] } })
  const guarded = { defaults: { input_guardrails: [names.guardrail] } }
  const same = { usage_limits: [cost], rate_limits: [rate], ...guarded, description: 'Other words' }
  const repeated = await manager.ask('PUT', workspace(), same)
  t.is(repeated.status, 200, repeated.text)
  const refused = await manager.ask('PUT', workspace(), { usage_limits: null })
  t.like(refused.body, { error: { code: 'AB03', param: 'usage_limits' } })
  await asked(admin, 'PUT', workspace(), { usage_limits: null })
  await asked(manager, 'PUT', workspace(), { usage_limits: [{ ...cost, credit_limit: 5 }] })
  await asked(manager, 'PUT', workspace(), { usage_limits: null })
  const id = await madeBy(admin, '/policies/usage-limits', { ...policy, ...cost, workspace_id: acme.workspaceId })
  await asked(manager, 'PUT', `/policies/usage-limits/${id}`, { name: 'Another name', credit_limit: 10 })
})

test.serial('a key is not rotated with a longer transition than its policy from above says', async (t) => {
  const manager = await sessionOf(control, await personOf(control, acme, 'g'), 'manager')
  const hour = 3_600_000
  const id = await madeBy(manager, '/api-keys/workspace/service', { name: 'Turned', workspace_id: acme.workspaceId, scopes: ['logs.list'] })
  const rotate = (ms: number) => manager.ask('POST', `/api-keys/${id}/rotate`, { key_transition_period_ms: ms })
  await asked(admin, 'PUT', `/api-keys/${id}`, { rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: hour } })
  t.like((await rotate(hour + 1)).body, { error: { code: 'AB03', param: 'key_transition_period_ms' } })
  t.is((await rotate(hour)).status, 200)
})

test.serial('a limit that an admin changed is the admin’s', async (t) => {
  const manager = await sessionOf(control, await personOf(control, acme, 'g'), 'manager')
  const id = await madeBy(manager, '/policies/rate-limits', { ...policy, ...rate, workspace_id: acme.workspaceId })
  await asked(manager, 'PUT', `/policies/rate-limits/${id}`, { value: 20 })
  await asked(admin, 'PUT', `/policies/rate-limits/${id}`, { value: 5 })
  t.is((await manager.ask('PUT', `/policies/rate-limits/${id}`, { value: 20 })).status, 403)
  t.is((await manager.ask('DELETE', `/policies/rate-limits/${id}`)).status, 403)
})
