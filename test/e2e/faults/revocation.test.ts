import test, { type ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { manage, storeProvider } from '../../support/admin.ts'
import { inDatabase } from '../../support/database.ts'
import { startEmulator, type Echo, type Emulator } from '../../support/emulator/emulator.ts'
import { type Ask, exchange, type Outcome, startLoad } from '../../support/load.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'

/** A key or a provider that is asked for in both processes, before and after it is changed through the API of one. */
interface Subject {
  readonly kind: string
  /** Headers that name it. */
  readonly headers: Readonly<Record<string, string>>
  readonly before: Expectation
  readonly after: Expectation
  readonly change: () => Promise<unknown>
}

/** The demands on an exchange. */
type Expectation = (outcome: Outcome) => boolean

/** The promise: an exchange that starts later than this after the acknowledgment sees the change, in every process. */
const promisedMs = 1000
const processes = 2
const clientsOfEach = 5
const changesOfEach = 11
const changesOfLimits = 3
/** So often each subject is asked for in each process before its change, and after the promised second. */
const asksBefore = 2
const asksAfter = 3

const status =
  (expected: number): Expectation =>
  (outcome) =>
    outcome.status === expected
const served = status(200)
const servedWith =
  (credential: string): Expectation =>
  (outcome) =>
    served(outcome) && credentialOf(outcome) === `Bearer ${credential}`

/** The emulator answers with the request that it received. */
function credentialOf({ text }: Outcome): string | undefined {
  const { rawHeaders } = JSON.parse(text) as Echo
  return rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'authorization') + 1]
}

const ofKey = (secret: string) => ({ 'x-service-api-key': secret, 'x-service-provider': '@emulated' })
const ofProvider = (slug: string) => ({ 'x-service-api-key': workspaceKey, 'x-service-provider': `@${slug}` })
const ofVirtualKey = (slug: string) => ({ 'x-service-api-key': workspaceKey, 'x-service-virtual-key': slug })

const name = (kind: string): string => `${kind}-${randomUUID().slice(0, 8)}`

/** Makes subjects through the API of one process. */
function subjectMaker({ origin, superuser }: Gatehouse, emulator: Emulator) {
  const call = (method: string, path: string, body?: unknown) => manage(origin, method, path, body)
  const newKey = async () => {
    const { id, key } = await call('POST', '/api-keys/workspace/service', { name: name('key'), scopes: ['completions.write', 'logs.list'] })
    return { path: `/api-keys/${String(id)}`, id: String(id), secret: String(key) }
  }
  const account = { key: 'sk-first-credential', configurations: { custom_host: emulator.url } }
  const newVirtualKey = async () => {
    const { data } = await call('POST', '/virtual-keys', { name: name('vk'), provider: 'openai', ...account })
    return (data as { slug: string }).slug
  }
  const newIntegration = async () => {
    const slug = name('integration')
    await storeProvider(origin, { slug, url: emulator.url, key: account.key })
    return slug
  }
  const setHash = (id: string, hash: string) =>
    inDatabase(superuser, (client) => client.query(`UPDATE api_keys SET key_hash = ${hash} WHERE id = $1`, [id]))
  return [
    async () => {
      const { path, secret } = await newKey()
      return { kind: 'key deleted', headers: ofKey(secret), before: served, after: status(401), change: () => call('DELETE', path) }
    },
    async () => {
      const { path, secret } = await newKey()
      const change = () => call('PUT', path, { scopes: ['logs.list'] })
      return { kind: 'key loses its scope', headers: ofKey(secret), before: served, after: status(403), change }
    },
    async () => {
      const { path, secret } = await newKey()
      return {
        kind: 'key rotated: the old secret',
        headers: ofKey(secret),
        before: served,
        after: served,
        change: () => call('POST', `${path}/rotate`),
      }
    },
    async () => {
      const { path } = await newKey()
      const { key } = await call('POST', `${path}/rotate`)
      return {
        kind: 'rotated key deleted: the new secret',
        headers: ofKey(String(key)),
        before: served,
        after: status(401),
        change: () => call('DELETE', path),
      }
    },
    async () => {
      const { path, secret } = await newKey()
      await call('POST', `${path}/rotate`)
      return {
        kind: 'rotated key deleted: the old secret',
        headers: ofKey(secret),
        before: served,
        after: status(401),
        change: () => call('DELETE', path),
      }
    },
    async () => {
      const { id, secret } = await newKey()
      // Away and back: a secret that was tried before its key was there.
      await setHash(id, `decode(encode(key_hash, 'hex') || 'ff', 'hex')`)
      const change = () => setHash(id, 'substring(key_hash FOR length(key_hash) - 1)')
      return { kind: 'key made after it was tried', headers: ofKey(secret), before: status(401), after: served, change }
    },
    async () => {
      const slug = name('provider')
      await call('POST', '/providers', { name: slug, slug, integration_id: 'emulated' })
      return {
        kind: 'provider deleted',
        headers: ofProvider(slug),
        before: served,
        after: status(400),
        change: () => call('DELETE', `/providers/${slug}`),
      }
    },
    async () => {
      const slug = name('provider')
      const change = () => call('POST', '/providers', { name: slug, slug, integration_id: 'emulated' })
      return { kind: 'provider made after it was tried', headers: ofProvider(slug), before: status(400), after: served, change }
    },
    async () => {
      const slug = await newIntegration()
      return {
        kind: 'integration deleted',
        headers: ofProvider(slug),
        before: served,
        after: status(400),
        change: () => call('DELETE', `/integrations/${slug}`),
      }
    },
    async () => {
      const slug = await newIntegration()
      const change = () => call('PUT', `/integrations/${slug}`, { key: 'sk-second-credential' })
      return {
        kind: 'credential changed',
        headers: ofProvider(slug),
        before: servedWith(account.key),
        after: servedWith('sk-second-credential'),
        change,
      }
    },
    async () => {
      const slug = await newVirtualKey()
      return {
        kind: 'virtual key deleted',
        headers: ofVirtualKey(slug),
        before: served,
        after: status(400),
        change: () => call('DELETE', `/virtual-keys/${slug}`),
      }
    },
    async () => {
      const slug = await newVirtualKey()
      const change = () => call('PUT', `/virtual-keys/${slug}`, { key: 'sk-second-credential' })
      return {
        kind: 'virtual key changed',
        headers: ofVirtualKey(slug),
        before: servedWith(account.key),
        after: servedWith('sk-second-credential'),
        change,
      }
    },
  ] satisfies readonly (() => Promise<Subject>)[]
}

const budgetOf = (credit_limit: number) => ({ usage_limits: { type: 'requests', credit_limit } })
const rateOf = (value: number) => ({ rate_limits: [{ type: 'requests', unit: 'rpd', value }] })

/** Makes subjects whose limits change: raised, lowered, reset and archived, through the API of one process. */
function limitedMaker({ origin, superuser }: Gatehouse) {
  const call = (method: string, path: string, body?: unknown) => manage(origin, method, path, body)
  const newKey = async (limits: object) => {
    const { id, key } = await call('POST', '/api-keys/workspace/service', { name: name('key'), scopes: ['completions.write'], ...limits })
    return { path: `/api-keys/${String(id)}`, id: String(id), headers: ofKey(String(key)) }
  }
  /** Asks until the budget is used up. */
  const exhaust = async (headers: Subject['headers']) => {
    while ((await exchange({ url: `${origin}/v1/echo`, headers, body: '{}' })).status === 200);
  }
  const newPolicy = async (kind: string, keyId: string, fields: object) => {
    const groups = { conditions: [{ key: 'api_key', value: keyId }], group_by: [{ key: 'api_key' }] }
    return `/policies/${kind}/${String((await call('POST', `/policies/${kind}`, { ...groups, type: 'requests', ...fields }))['id'])}`
  }
  return [
    async () => {
      const { path, headers } = await newKey(budgetOf(plenty))
      return { kind: 'budget lowered', headers, before: served, after: status(412), change: () => call('PUT', path, budgetOf(1)) }
    },
    async () => {
      const { path, headers } = await newKey(budgetOf(1))
      await exhaust(headers)
      return { kind: 'budget raised', headers, before: status(412), after: served, change: () => call('PUT', path, budgetOf(plenty)) }
    },
    async () => {
      const { path, id, headers } = await newKey(budgetOf(plenty))
      await exchange({ url: `${origin}/v1/echo`, headers, body: '{}' })
      await inDatabase(superuser, (client) =>
        client.query(`UPDATE limit_counters SET granted = jsonb_build_object('0', ${plenty}) WHERE owner_id = $1`, [id]),
      )
      await exhaust(headers)
      const change = () => call('PUT', path, { reset_usage: true })
      return { kind: 'budget reset', headers, before: status(412), after: served, change }
    },
    async () => {
      const { path, headers } = await newKey(rateOf(plenty))
      return { kind: 'rate limit lowered', headers, before: served, after: status(429), change: () => call('PUT', path, rateOf(1)) }
    },
    async () => {
      const { path, headers } = await newKey(rateOf(1))
      await exhaust(headers)
      return { kind: 'rate limit raised', headers, before: status(429), after: served, change: () => call('PUT', path, rateOf(plenty)) }
    },
    async () => {
      const { id, headers } = await newKey({})
      const change = () => newPolicy('rate-limits', id, { unit: 'rpd', value: 0 })
      return { kind: 'policy made', headers, before: served, after: status(429), change }
    },
    async () => {
      const { id, headers } = await newKey({})
      const policy = await newPolicy('usage-limits', id, { credit_limit: 1 })
      await exhaust(headers)
      return { kind: 'policy archived', headers, before: status(412), after: served, change: () => call('DELETE', policy) }
    },
  ] satisfies readonly (() => Promise<Subject>)[]
}

/** More than a test asks for. */
const plenty = 1_000_000

/** When a subject was changed, and how often each process was asked for it before and after. */
interface Entry {
  readonly index: number
  readonly subject: Subject
  readonly asked: { before: number; after: number }[]
  changedAt: number
  acknowledgedAt: number
}

const toEntry = (subject: Subject, index: number): Entry => ({
  index,
  subject,
  asked: Array.from({ length: processes }, () => ({ before: 0, after: 0 })),
  changedAt: Infinity,
  acknowledgedAt: Infinity,
})

const warm = ({ asked }: Entry) => asked.every(({ before }) => before >= asksBefore)
const settled = ({ asked }: Entry) => asked.every(({ after }) => after >= asksAfter)

/** Each process in turn is asked for a subject that is about to change, for one that has just changed, and for any. */
function chooser(register: readonly Entry[]): (process: number) => Entry {
  const turns = Array.from({ length: processes }, () => 0)
  const firstFew = (wanted: (entry: Entry) => boolean) => register.filter(wanted).slice(0, 16)
  return (process) => {
    const turn = (turns[process] = (turns[process] ?? 0) + 1)
    const unasked = () => firstFew(({ changedAt, asked }) => changedAt === Infinity && (asked[process]?.before ?? 0) < asksBefore)
    const changed = () => firstFew(({ changedAt, asked }) => changedAt !== Infinity && (asked[process]?.after ?? 0) < asksAfter)
    const wanted = [register, changed(), unasked(), unasked()][turn % 4] ?? register
    const from = wanted.length > 0 ? wanted : register
    const chosen = from[Math.floor(turn / 4) % from.length]
    if (chosen === undefined) throw new Error('there is no subject')
    return chosen
  }
}

function note(entry: Entry, { startedAt }: Outcome, process: number): void {
  const asked = entry.asked[process]
  if (asked === undefined) return
  if (startedAt < entry.changedAt) asked.before += 1
  if (startedAt > entry.acknowledgedAt + promisedMs) asked.after += 1
}

/** An exchange that saw a stale state, and how long after the acknowledgment it had started. */
interface Breach {
  readonly kind: string
  readonly lagMs: number
  readonly saw: string
}

/** Compares the history with the register: the state before the change, the state a second after it, and how late the last old answer was. */
function check(register: readonly Entry[], history: readonly Outcome[]): { breaches: readonly Breach[]; latestMs: number } {
  const breaches: Breach[] = []
  let latestMs = 0
  for (const outcome of history) {
    const entry = register[Number(outcome.ask.label)]
    if (entry === undefined) continue
    const { subject, changedAt, acknowledgedAt } = entry
    const lagMs = outcome.startedAt - acknowledgedAt
    const saw = `${outcome.status ?? outcome.fault} ${outcome.text.slice(0, 200)}`
    if (outcome.endedAt < changedAt && !subject.before(outcome)) breaches.push({ kind: subject.kind, lagMs, saw })
    if (lagMs > promisedMs && !subject.after(outcome)) breaches.push({ kind: subject.kind, lagMs, saw })
    if (lagMs > 0 && !subject.after(outcome)) latestMs = Math.max(latestMs, lagMs)
  }
  return { breaches, latestMs }
}

/** Changes subjects one after the other while both processes are asked for all of them, and returns the observations. */
async function changeAll(t: ExecutionContext, makersOf: MakersOf, rounds: number): Promise<void> {
  const emulator = await startEmulator({ record: false })
  const first = await startGatehouse()
  const second = await startGatehouse({ beside: first })
  t.teardown(async () => {
    await Promise.all([first.stop(), second.stop()])
    await emulator.stop()
  })
  await storeProvider(first.origin, { slug: 'emulated', url: emulator.url })
  const register: Entry[] = []
  const makers = makersOf(first, emulator)
  for (let round = 0; round < rounds; round += 1) for (const make of makers) register.push(toEntry(await make(), register.length))

  const choose = chooser(register)
  const next = (client: number): Ask => {
    const { index, subject } = choose(client % processes)
    const { origin } = client % processes === 0 ? first : second
    return { url: `${origin}/v1/echo`, headers: subject.headers, body: '{}', label: String(index) }
  }
  const onOutcome = (outcome: Outcome, client: number) => {
    const entry = register[Number(outcome.ask.label)]
    if (entry !== undefined) note(entry, outcome, client % processes)
  }
  const load = startLoad({ clients: processes * clientsOfEach, everyMs: 25, next, onOutcome })
  t.teardown(() => load.stop())
  for (const entry of register) {
    await load.until(() => warm(entry))
    entry.changedAt = performance.now()
    await entry.subject.change()
    entry.acknowledgedAt = performance.now()
  }
  await load.until(() => register.every(settled))
  const history = await load.stop()
  const { breaches, latestMs } = check(register, history)
  t.deepEqual(breaches, [])
  t.log(
    `${register.length} changes of ${makers.length} kinds, ${history.length} exchanges; the last old answer began ${Math.round(latestMs)} ms after an acknowledgment`,
  )
}

type MakersOf = (gatehouse: Gatehouse, emulator: Emulator) => readonly (() => Promise<Subject>)[]

test.serial('what is changed through one of two processes holds in both within a second, under load', (t) =>
  changeAll(t, subjectMaker, changesOfEach),
)

test.serial(
  'D: limits that are raised, lowered, reset and archived through one of two processes hold in both within a second, under load',
  (t) => changeAll(t, limitedMaker, changesOfLimits),
)
