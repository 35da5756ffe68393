import { cases, type CaseId, type Fixture, isSaid } from './cases.ts'
import { type Departure, departures } from './departures.ts'
import { providers, servedAs } from './sides/index.ts'
import { type Ask, type ClientId, heardOf, lineOf, type Lines, type ProviderId, saidOf, type Say, thoughtLine } from './talk.ts'

/** The facts that both ends of a fixture must understand: each request at the provider, each answer at the client. */
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

/** The facts if no change were necessary; a completion has a prompt and no instructions beside it. */
export function ideal({ ask: asked, says, results }: Fixture, client: ClientId | null): Expected {
  const { system: __, ...unguided } = asked
  const ask: Ask = client === 'completions' ? unguided : asked
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

/** The facts at both ends, with the departures that changed some. */
export function expectedOf(cell: Cell, fixture: Fixture): Expected & { readonly departures: readonly Departure[] } {
  let now = ideal(fixture, cell.client)
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

/** The steps of a cell in the tests, and its word in the guide: both come from here. */
export interface ToldCell {
  readonly fixtures: readonly Fixture[]
  readonly word: Word
  /** Why it is no plain `carried`. */
  readonly notes: readonly string[]
  /** True if the rest of its fixtures are not there. */
  readonly isPart: boolean
}

export type Word = 'carried' | 'transformed' | 'refused' | 'not there'

/** Returns the steps of a cell, and its word. */
export function cellOf(cell: Cell): ToldCell {
  const { client, provider, name } = cell
  const all: readonly Fixture[] = name === 'errors' || name === 'abort' ? [] : cases[name]
  const { lacks = [], only = [] } = providers[client === null ? provider : servedAs(client, provider)]
  const askers = client === null ? only : [client]
  const said = all.filter((fixture) => askers.length === 0 || askers.some((asker) => isSaid(fixture, asker)))
  const absences = lacks.filter(({ of }) => said.some((fixture) => of(fixture, client)))
  const fixtures = said.filter((fixture) => !lacks.some(({ of }) => of(fixture, client)))
  const used = new Set(fixtures.flatMap((fixture) => expectedOf(cell, fixture).departures))
  const met = departures.filter((rule) => used.has(rule))
  const refusing = met.filter(({ refused }) => refused !== undefined)
  const why = refusing.length > 0 ? refusing : met
  const isThere = fixtures.length > 0 || said.length === 0
  return {
    fixtures,
    word: !isThere ? 'not there' : refusing.length > 0 ? 'refused' : met.length > 0 ? 'transformed' : 'carried',
    notes: [...why, ...absences].map(({ note }) => note),
    isPart: isThere && absences.length > 0,
  }
}

/** Returns true for cases that a provider refuses for every client. */
const refusesAll = (provider: ProviderId, name: CaseId): boolean => cellOf({ client: null, provider, name }).word === 'refused'

export const takesTools = (provider: ProviderId): boolean => !refusesAll(provider, 'tools')

/** Returns the departures that the fixtures of a cell meet. */
export const metBy = (cell: Cell): readonly Departure[] => cellOf(cell).fixtures.flatMap((fixture) => expectedOf(cell, fixture).departures)
