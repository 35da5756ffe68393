import { cases, type CaseId, type Fixture, isSaid } from './cases.ts'
import { type Departure, departures } from './departures.ts'
import { servedAs } from './sides/index.ts'
import { type ClientId, heardOf, lineOf, type Lines, type ProviderId, saidOf, type Say, thoughtLine } from './talk.ts'

/** What both ends of a fixture must understand: each request as the provider hears it, each answer as the client reads it. */
export interface Expected {
  readonly heard: readonly Lines[]
  readonly said: readonly Lines[]
}

export interface Cell {
  /** Null: the client of a provider whose format no client of Gatehouse speaks. */
  readonly client: ClientId | null
  readonly provider: ProviderId
  readonly name: CaseId
}

/** What would be understood if nothing had to be changed. */
function ideal({ ask, says, results }: Fixture): Expected {
  const heard = says.map((_, round) => {
    const before = says.slice(0, round)
    const turns = [
      ...ask.turns.flatMap(({ role, pieces }) => pieces.map((piece) => lineOf(role, piece))),
      ...before.flatMap((say) => linesOf(say, results)),
    ]
    const [first, rest] = [
      heardOf({ turns: [], maxTokens: ask.maxTokens, ...(ask.system !== undefined && { system: ask.system }) }),
      heardOf({ ...ask, turns: [] }),
    ]
    return [...first.slice(0, -1), ...turns, ...rest.slice(first.length - 1)]
  })
  return { heard, said: says.map(saidOf) }
}

const linesOf = ({ thought, text, calls = [] }: Say, results: Fixture['results']): Lines => [
  ...(thought === undefined ? [] : [thoughtLine(thought.text, thought.signature)]),
  ...(text === undefined ? [] : [`assistant text ${text}`]),
  ...calls.map((call) => lineOf('assistant', { call })),
  ...calls.map(({ id, name }) => lineOf('user', { result: { id, name, text: results?.[name] ?? '' } })),
]

function meets({ client, provider: asked, name }: Cell, rule: Departure): boolean {
  const provider = client === null ? asked : servedAs(client, asked)
  return (
    (client === null ? rule.clients === undefined && rule.pairs === undefined : (rule.clients?.includes(client) ?? true)) &&
    (rule.providers?.includes(provider) ?? true) &&
    (rule.cases?.includes(name) ?? true) &&
    (client === null || rule.pairs?.(client, provider) !== false)
  )
}

const changed = (lines: Lines, changes: Departure['heard'] = []): Lines =>
  lines.flatMap((line) => {
    let now: string | null = line
    for (const [from, to] of changes) if (now !== null && from.test(now)) now = to === null ? null : now.replace(from, to)
    return now === null ? [] : now.split('\n')
  })

/** What both ends understand, with the departures that changed something. */
export function expectedOf(cell: Cell, fixture: Fixture): Expected & { readonly departures: readonly Departure[] } {
  let now = ideal(fixture)
  const used: Departure[] = []
  for (const rule of departures) {
    if (!meets(cell, rule)) continue
    const next = {
      heard: now.heard.map((lines) => changed(lines, rule.heard)),
      said: now.said.map((lines) => changed(lines, rule.said)),
    }
    if (rule.refused !== undefined || JSON.stringify(next) !== JSON.stringify(now)) used.push(rule)
    now = next
  }
  return { ...now, departures: used }
}

/** Returns true for what a provider refuses whoever asks. */
export const refusesAll = (provider: ProviderId, name: CaseId): boolean =>
  departuresOf({ client: null, provider, name }).some(({ refused }) => refused !== undefined)

export const takesTools = (provider: ProviderId): boolean => !refusesAll(provider, 'tools')

/** The departures of a whole cell, in their order. */
export function departuresOf(cell: Cell): readonly Departure[] {
  const all: readonly Fixture[] = cell.name === 'errors' || cell.name === 'abort' ? [] : cases[cell.name]
  const fixtures = all.filter((fixture) => cell.client === null || isSaid(fixture, cell.client))
  const used = new Set(fixtures.flatMap((fixture) => expectedOf(cell, fixture).departures))
  for (const rule of departures) if (fixtures.length === 0 && rule.cases?.includes(cell.name) === true && meets(cell, rule)) used.add(rule)
  return departures.filter((rule) => used.has(rule))
}
