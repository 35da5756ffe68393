import test, { type ExecutionContext } from 'ava'
import { type Operation, operations, type OperationSpec, type Task } from '../../src/gateway/operations/operations.ts'
import { formatOf, translatesTask } from '../../src/gateway/dialects/tasks/translate-task.ts'
import { countProviders } from '../../src/gateway/dialects/token-counts.ts'
import { plainTraits } from '../../src/gateway/dialects/traits.ts'
import { findProvider, providers as catalogue } from '../../src/gateway/providers/catalog.ts'
import { doersOf, offersAt, speakersOf } from '../../src/gateway/providers/serving.ts'
import { json } from '../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../support/gateway.ts'
import { statuses } from './cases.ts'
import { type Area, casesOf, departuresAt, isServed, type TaskAddress, type TaskCase, type TaskCell } from './tasks/area.ts'
import { factsOf, gets } from './tasks/facts.ts'
import { areas } from './tasks/index.ts'

/** Operations that are no conversations: each client's at each provider that does the work, in each case. */
let cloud: Emulator
let bed: GatewayBed

const slugOf = (area: string, provider: string): string => `${area}-${provider}`

test.before(async () => {
  cloud = await startEmulator()
  const views = Object.entries(areas).flatMap(([name, area]) => [
    ...Object.entries(area.providers).map(([id, { row, base, fields = {}, credential = { key: 'sk-upstream', fields } }]) => [
      slugOf(name, id),
      { provider: row, customHost: cloud.origin + base, credential },
    ]),
    ...(area.unable === null ? [] : [[slugOf(name, 'unable'), { provider: area.unable, customHost: cloud.origin }]]),
  ])
  bed = await startGateway({ providers: Object.fromEntries(views) })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const addressOf = (name: string, provider: string): TaskAddress => {
  const { model = 'any', options } = areas[name]?.providers[provider] ?? {}
  return { origin: bed.origin, key: workspaceKey, model: `@${slugOf(name, provider)}/${model}`, ...(options !== undefined && { options }) }
}

type Failed = Error & { readonly status?: number; readonly statusCode?: number }
const statusOf = ({ status, statusCode }: Failed): number | undefined => status ?? statusCode

async function runCase(t: ExecutionContext, name: string, area: Area, cell: TaskCell): Promise<void> {
  const one = area.clients[cell.client]?.cases[cell.name]
  if (one === undefined) throw new Error('no case')
  const departures = departuresAt(area, cell)
  cloud.script({ behaviour: (received) => area.serve(received) })
  const address = addressOf(name, cell.provider)
  for (const { refused, byProvider = false } of departures) {
    if (refused === undefined) continue
    const error = await t.throwsAsync<Failed>(one.ask(address))
    t.is(error && statusOf(error), 400)
    t.regex(error?.message ?? '', refused)
    t.is(cloud.requests.length > 0, byProvider)
    return
  }
  const entry = bed.nextLog()
  const said = await one.ask(address)
  const unheard = departures.flatMap((departure) => departure.unheard ?? [])
  const facts = cloud.requests.flatMap((received) => factsOf(received))
  t.is(cloud.requests.length > 0, area.providers[cell.provider]?.asked !== false)
  t.deepEqual(
    {
      said,
      missing: one.heard.filter((fact) => !gets(facts, fact)),
      dropped: (await entry).record.translation?.dropped ?? [],
    },
    {
      said: departures.reduce((lines, departure) => changed(lines, departure.said), one.said),
      missing: unheard.filter((fact) => one.heard.includes(fact)),
      dropped: departures.flatMap(({ dropped = [] }) => dropped),
    },
  )
}

const changed = (lines: TaskCase['said'], changes: readonly (readonly [from: RegExp, to: string | null])[] = []): TaskCase['said'] =>
  lines.flatMap((line) => {
    const found = changes.find(([from]) => from.test(line))
    if (found === undefined) return [line]
    const [from, to] = found
    return to === null ? [] : [line.replace(from, to)]
  })

/** Status and message of the provider's own error reach the client. */
async function runErrors(t: ExecutionContext, name: string, area: Area, { client, provider }: TaskCell): Promise<void> {
  const first = Object.values(area.clients[client]?.cases ?? {})[0]
  for (const status of statuses) {
    cloud.script({ behaviour: json(area.providers[provider]?.error(`the provider says ${status}`, status) ?? {}, status) })
    const error = await t.throwsAsync<Failed>(first?.ask(addressOf(name, provider)) ?? Promise.resolve())
    t.is(error && statusOf(error), status)
    t.regex(error?.message ?? '', new RegExp(`the provider says ${status}`))
  }
}

for (const [name, area] of Object.entries(areas))
  for (const [client, spec] of Object.entries(area.clients)) {
    for (const provider of Object.keys(area.providers)) {
      if (!isServed(area, client, provider)) continue
      for (const one of casesOf(spec, area.providers[provider]))
        test.serial(`${name}, ${client} at ${provider}: ${one}`, (t) =>
          (one === 'errors' ? runErrors : runCase)(t, name, area, { client, provider, name: one }),
        )
    }
    const { refusedAs, cases } = spec
    if (refusedAs !== null)
      test.serial(`${name}, ${client} at a provider that does no such work: a 400 names both, and lists who does`, async (t) => {
        const operation = (Object.keys(operations) as Operation[]).find((one) => operations[one].path === refusedAs)
        const able = operation === undefined ? doersOf(area.tasks[0] as Task) : speakersOf(operation)
        const first = Object.values(cases)[0]
        const error = await t.throwsAsync<Failed>(first?.ask(addressOf(name, 'unable')) ?? Promise.resolve())
        t.is(error && statusOf(error), 400)
        t.regex(error?.message ?? '', new RegExp(`${area.unable} does not serve ${refusedAs}`))
        t.true(error?.message.includes(`These do: ${able.slice(0, 12).join(', ')}`))
        t.is(cloud.requests.length, 0)
      })
  }

test('each format in which a provider of the catalogue does such work has a row', (t) => {
  const dialects = new Set(Object.values(operations).map(({ dialect }: OperationSpec) => dialect))
  const offered = Object.keys(catalogue).flatMap((id) => {
    const provider = findProvider(id)
    if (provider === null) return []
    return offersAt(provider).flatMap(({ task, dialect, traits }) => {
      const format = formatOf({ dialect, traits: { ...plainTraits, ...provider.traits, ...traits } })
      const isTranslated = [...dialects].some((from) => translatesTask(task, from, format))
      return isTranslated || (task === 'token-count' && dialect in countProviders) ? [`${task} ${format}`] : []
    })
  })
  const rows = Object.values(areas).flatMap(({ tasks, providers }) =>
    tasks.flatMap((task) => Object.values(providers).map(({ format }) => `${task} ${format}`)),
  )
  t.deepEqual([...new Set(offered).difference(new Set(rows))].toSorted(), [])
})

test('each departure that is written down is met by a cell', (t) => {
  for (const area of Object.values(areas)) {
    const met = new Set(
      Object.entries(area.clients).flatMap(([client, spec]) =>
        Object.keys(area.providers)
          .filter((provider) => isServed(area, client, provider))
          .flatMap((provider) => casesOf(spec, area.providers[provider]).flatMap((name) => departuresAt(area, { client, provider, name }))),
      ),
    )
    t.deepEqual(
      area.departures.filter((one) => !met.has(one)).map(({ note }) => note),
      [],
    )
  }
})
