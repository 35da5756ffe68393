import { randomBytes, randomUUID } from 'node:crypto'
import { settleUsage } from '../../../src/features/analytics/analytics.jobs.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { exchangeRecord } from '../../support/journal.ts'
import { letters, people, startCallers, type Callers, type Letter } from './callers.ts'
import { startExporting } from './exporting.ts'
import type { Control, Tenant } from './setup.ts'

/** A caller of models, with one of their logs, its trace, and an export and a saved filter of theirs. */
export interface Source {
  /** The letter of a person of `main`, `wk` for its workspace key, `side` for another workspace, `foreign` for another organisation. */
  readonly name: string
  readonly log: string
  readonly trace: string
  readonly export: string
  readonly filter: string
}

export type SetName = 'all' | 'workspace' | 'own' | 'side' | 'none'
export type Thing = 'log' | 'trace' | 'export' | 'filter'

/** An organisation in which all callers have logs that differ in every figure. */
export interface Seen {
  readonly callers: Callers
  /** The filters that leave the logs of the setup. */
  readonly bounds: Readonly<Record<string, string>>
  readonly states: readonly { readonly name: string; set(): Promise<void> }[]
  /** The filter that leaves a caller's own logs; null: the caller has none. */
  ownFilter(caller: string): Readonly<Record<string, string>> | null
  /** The logs of the caller, of a colleague, of another workspace and of another organisation. */
  sourcesFor(caller: string, of: Thing): readonly Source[]
  /** Every source of which a caller could be shown something in a list. */
  allFor(caller: string, of: Thing): readonly Source[]
  /** Returns which set these are, of the sources that a caller could be shown; null: none of them. */
  setOf(names: readonly string[], caller: string, sources: readonly Source[]): SetName | null
  /** The names of the sources that are not in a set: no figure may include them, with any filters. */
  namesBeyond(set: SetName, caller: string): readonly string[]
  close(): Promise<void>
}

/** Failed requests of each: no two sets of sources have the same share, mean or number of anything. */
const failures = { O: 1, A: 2, a: 3, g: 5, m: 7, wk: 11, side: 13, foreign: 17 } as const
type Name = keyof typeof failures
const inMain = [...letters, 'wk'] as const
const allNames = [...inMain, 'side', 'foreign'] as const

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

interface Writer {
  readonly tenant: Tenant
  readonly workspaceId: string
  readonly key: string
  readonly keyId: string
  readonly userId: string | null
}

export async function startSeen(): Promise<Seen> {
  const exporting = await startExporting()
  const { control, acme, rival } = exporting
  const callers = await startCallers(control, acme)
  const writers = await writersOf(control, callers, { acme, rival })
  const traces = new Map(allNames.map((name) => [name, hex(16)]))
  const shared = hex(16)
  const records = allNames.flatMap((name) => recordsOf(name, writers[name], { own: traces.get(name) ?? '', shared }))
  await exporting.ship(records)
  for (const name of allNames) await tell(control, { name, writer: writers[name], traces: [traces.get(name) ?? '', shared] })
  const sources = new Map<Name, Source>()
  const sourceOf = (name: Name): Source => sources.get(name) as Source
  const set = async (state: State) => {
    await apply(control, acme, state)
    // A manager who sees their own logs alone exports only these. They may not at all in some states.
    const drafted = await control.call(writers.g.key, 'POST', '/logs/exports', exportOf('g'))
    if (drafted.status === 200) sources.set('g', { ...sourceOf('g'), export: String(drafted.body['id']) })
  }
  for (const name of allNames) {
    sources.set(name, {
      name,
      log: records.find(({ model, status }) => model === name && status === 200)?.id ?? '',
      trace: traces.get(name) ?? '',
      export: name === 'm' ? randomUUID() : await made(control, writers[name].key, '/logs/exports', exportOf(name)),
      filter: await made(control, writers[name].key, '/saved-filters', filterOf(name, writers[name])),
    })
  }
  await settleUsage.run(control.started.deps)
  const bounds = {
    time_of_generation_min: new Date(Date.now() - 6 * 3_600_000).toISOString(),
    time_of_generation_max: new Date().toISOString(),
  }
  return {
    callers,
    bounds,
    states: states.map(({ name, ...state }) => ({ name, set: () => set(state) })),
    ownFilter(caller) {
      const name = ownName(caller)
      if (name === null) return null
      const { userId, keyId } = writers[name]
      return userId === null ? { api_key_ids: keyId } : { user_id: userId }
    },
    sourcesFor: (caller, of) => fewOf(caller, of).map(sourceOf),
    allFor: (caller, of) => [...mainOf(caller, of), 'side' as const].map(sourceOf),
    setOf(names, caller, among) {
      const found = new Set(names)
      const own = ownName(caller)
      const main = among.map(({ name }) => name).filter((name) => name !== 'side' && name !== 'foreign')
      const sets: readonly (readonly [SetName, readonly string[]])[] = [
        ['none', []],
        ['workspace', main],
        ['all', [...main, 'side']],
        ['side', ['side']],
        ...(own === null ? [] : [['own', [own]] as const]),
      ]
      return sets.find(([, wanted]) => wanted.length === found.size && wanted.every((name) => found.has(name)))?.[0] ?? null
    },
    namesBeyond(found, caller) {
      const within: Readonly<Record<SetName, readonly (Name | null)[]>> = {
        all: [...inMain, 'side'],
        workspace: inMain,
        own: [ownName(caller)],
        side: ['side'],
        none: [],
      }
      return allNames.filter((name) => !within[found].includes(name))
    },
    close: () => exporting.close(),
  }
}

/** The source of a caller's own logs; null: an admin key has none. */
function ownName(caller: string): Name | null {
  if (caller === 'admin key') return null
  return letters.find((letter) => caller.endsWith(` of the ${people[letter]}`)) ?? 'wk'
}

/** The sources in `main` of which a caller could see something. */
function mainOf(caller: string, of: Thing): readonly Name[] {
  const own = ownName(caller)
  // Filters of persons are theirs alone.
  if (of === 'filter') return own === null || own === 'wk' ? ['wk'] : [own, 'wk']
  return of === 'export' ? inMain.filter((name) => name !== 'm') : inMain
}

const fewOf = (caller: string, of: Thing): readonly Name[] => {
  const own = ownName(caller)
  const colleague = own === 'wk' ? 'O' : 'wk'
  const main: readonly Name[] = of === 'filter' ? mainOf(caller, of) : [own ?? 'O', colleague]
  return [...main, 'side', 'foreign']
}

async function writersOf(
  { sql }: Control,
  { persons, keys }: Callers,
  { acme, rival }: { readonly acme: Tenant; readonly rival: Tenant },
): Promise<Readonly<Record<Name, Writer>>> {
  const { rows } = await sql.query<{ id: string; user_id: string | null; workspace_id: string | null }>(
    'SELECT id, user_id, workspace_id FROM api_keys',
  )
  const service = (tenant: Tenant, workspaceId: string, key: string): Writer => ({
    tenant,
    workspaceId,
    key,
    keyId: rows.find((row) => row.workspace_id === workspaceId && row.user_id === null)?.id ?? '',
    userId: null,
  })
  const person = (letter: Letter): Writer => {
    const userId = persons.get(letter)?.id ?? ''
    const key = keys.get(`key of the ${people[letter]}`) ?? ''
    return { tenant: acme, workspaceId: acme.workspaceId, key, keyId: rows.find((row) => row.user_id === userId)?.id ?? '', userId }
  }
  return {
    O: person('O'),
    A: person('A'),
    a: person('a'),
    g: person('g'),
    m: person('m'),
    wk: service(acme, acme.workspaceId, acme.workspaceKey),
    side: service(acme, acme.sideId, acme.sideKey),
    foreign: service(rival, rival.workspaceId, rival.workspaceKey),
  }
}

/** One request that succeeded after retries and came from the cache, in a trace of its own; failed ones in a trace that all share. */
function recordsOf(name: Name, { tenant, workspaceId, keyId, userId }: Writer, traces: { readonly own: string; readonly shared: string }) {
  const many = failures[name]
  const record = (at: number, more: Partial<ExchangeRecord>) =>
    exchangeRecord({
      organisationId: tenant.organisationId,
      workspaceId,
      apiKeyId: keyId,
      userId,
      createdAt: Date.now() - (many * 20 + at) * 10_000,
      model: name,
      provider: name,
      providerSlug: name,
      metadata: { _user: `${name}-${Math.floor(at / 2)}`, env: name },
      durationMs: many * 100 + at,
      traceId: traces.shared,
      usage: { ...exchangeRecord().usage, inputTokens: many, outputTokens: 1, totalTokens: many + 1 },
      config: { slug: name, version: 1 },
      ...more,
    } as Partial<ExchangeRecord>)
  const succeeded = record(0, { traceId: traces.own, retryCount: many, cacheStatus: 'HIT', cost: costOf(many) })
  return [succeeded, ...Array.from({ length: many }, (_, at) => record(at + 1, { status: 500, cacheStatus: 'MISS' }))]
}

const costOf = (many: number) => ({
  amount: String(BigInt(many) * 1_000_000_007n),
  state: 'priced' as const,
  catalogue: null,
  lines: [],
  unpriced: [],
  charges: [],
  saved: String(BigInt(many) * 3_000_000_001n),
})

interface Told {
  readonly name: Name
  readonly writer: Writer
  readonly traces: readonly [own: string, shared: string]
}

/** Sends traces as clients do: spans, and feedback, as many good ones as failures. */
async function tell(control: Control, { name, writer, traces }: Told): Promise<void> {
  const startedAt = Date.now() - 60_000
  const spans = traces.map((traceId) => ({
    traceId,
    spanId: hex(8),
    name: 'step',
    startTimeUnixNano: `${startedAt}000000`,
    endTimeUnixNano: `${startedAt + 5}000000`,
  }))
  const good = { trace_id: traces[0], value: Math.min(failures[name], 10), weight: 1 }
  const feedback = [
    good,
    ...Array.from({ length: failures[name] }, () => ({ ...good, value: -failures[name] % 10 })),
    { ...good, trace_id: traces[1] },
  ]
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: name } }] }
  const answers = [
    await control.call(writer.key, 'POST', '/otel/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }),
    await control.call(writer.key, 'POST', '/feedback', feedback),
  ]
  for (const { status, text } of answers) if (status !== 200) throw new Error(`${name}: ${text}`)
}

const exportOf = (name: Name) => ({ description: `seen ${name}`, requested_data: ['id'], filters: {} })
const filterOf = (name: Name, { userId }: Writer) => ({
  name: `seen ${name}`,
  type: 'logs',
  filters: {},
  ...(userId !== null && { visibility: 'private' }),
})

async function made(control: Control, key: string, path: string, body: object): Promise<string> {
  const answer = await control.call(key, 'POST', path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return String(answer.body['id'])
}

/** The settings of the organisation, and those of `main` instead. */
interface State {
  readonly organisation?: Readonly<Record<string, boolean>>
  readonly main?: Readonly<Record<string, boolean>>
}

const dataOf = (value: boolean) => ({ membersViewAllData: value, managersViewAllData: value })
const ownOnly: State = { organisation: dataOf(false) }
const noLogs = { membersViewLogs: false, managersViewLogs: false, organisationAdminsViewLogs: false }

const states: readonly (State & { readonly name: string })[] = [
  { name: 'no setting is set' },
  { name: 'membersViewAllData and managersViewAllData are off', ...ownOnly },
  { name: 'they are off in the workspace main alone', main: dataOf(false) },
  { name: 'they are off, and on in the workspace main', ...ownOnly, main: dataOf(true) },
  { name: 'membersViewLogs, managersViewLogs and organisationAdminsViewLogs are off', organisation: noLogs },
  { name: 'organisationAdminsViewLogMetadata is off too', organisation: { ...noLogs, organisationAdminsViewLogMetadata: false } },
  {
    name: 'membersViewAnalytics and managersViewAnalytics are off',
    organisation: { membersViewAnalytics: false, managersViewAnalytics: false },
  },
]

const settingNames = [...new Set(states.flatMap(({ organisation = {} }) => Object.keys(organisation)))]

async function apply(control: Control, { adminKey }: Tenant, { organisation = {}, main }: State): Promise<void> {
  const settings = Object.fromEntries(settingNames.map((name) => [name, organisation[name] ?? null]))
  const answers = [
    await control.call(adminKey, 'PUT', '/admin/organisation', { settings }),
    await control.call(adminKey, 'PUT', '/admin/workspaces/main', { access_overrides: { data_visibility: main ?? null } }),
  ]
  for (const { status, text } of answers) if (status !== 200) throw new Error(text)
  await control.refresh()
}
