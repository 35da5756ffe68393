import { type CaseId, caseIds, cases, type Fixture, isSaid } from '../../test/conformance/cases.ts'
import { type Cell, cellOf } from '../../test/conformance/expected.ts'
import { fateOf, fieldClients } from '../../test/conformance/fields.ts'
import { type Area, casesOf, departuresAt, isServed as isWorkServed, type TaskClient } from '../../test/conformance/tasks/area.ts'
import { areas } from '../../test/conformance/tasks/index.ts'
import { clientTitles, isServed, providers } from '../../test/conformance/sides/index.ts'
import type { ClientId, ProviderId } from '../../test/conformance/talk.ts'

/** Returns true if a client has words for a case. */
const canSay = (client: ClientId, name: CaseId): boolean => {
  const fixtures: readonly Fixture[] = name === 'errors' || name === 'abort' ? [] : cases[name]
  return fixtures.length === 0 || fixtures.some((fixture) => isSaid(fixture, client))
}

/** Numbers notes in the order in which tables name them. */
function noteBook() {
  const notes: string[] = []
  return {
    numbers: (found: readonly string[]): string =>
      [...new Set(found.map((note) => (notes.includes(note) ? notes.indexOf(note) : notes.push(note) - 1) + 1))].join(', '),
    written: (): string => notes.map((note, index) => `${index + 1}. ${note}`).join('\n'),
  }
}

type Notes = ReturnType<typeof noteBook>

/** A table with a row for each provider: operations have more providers than cases. */
function taskTable(area: Area, client: string, spec: TaskClient, notes: Notes): string {
  const names = casesOf(spec)
  const rows = Object.entries(area.providers)
    .filter(([provider]) => isWorkServed(area, client, provider))
    .map(([provider, { title, format, asked }]) => {
      const cells = names.map((name) => {
        const found = departuresAt(area, { client, provider, name })
        if (name === 'errors' && asked === false) return 'there are none'
        if (found.length === 0) return format === null ? 'as it is' : 'carried'
        return `${found.some(({ refused }) => refused !== undefined) ? 'refused' : 'transformed'} (${notes.numbers(found.map(({ note }) => note))})`
      })
      return `| ${title} | ${cells.join(' | ')} |`
    })
  return [`### ${spec.title}`, '', `| | ${names.join(' | ')} |`, `| --- |${' --- |'.repeat(names.length)}`, ...rows].join('\n')
}

/** The tables of operations that are no conversations. */
function taskTables(): string {
  const notes = noteBook()
  const tables = Object.values(areas).flatMap((area) =>
    Object.entries(area.clients).map(([client, spec]) => taskTable(area, client, spec, notes)),
  )
  return [...tables, notes.written()].join('\n\n')
}

/** A table with a column for each provider. */
function table(title: string, columns: readonly ProviderId[], rows: readonly string[]): string {
  const heads = columns.map((id) => providers[id].title)
  return [`### ${title}`, '', `| | ${heads.join(' | ')} |`, `| --- |${' --- |'.repeat(heads.length)}`, ...rows].join('\n')
}

/** The providers that serve a client, each with its own traits. */
const servingOf = (client: ClientId): readonly ProviderId[] =>
  (Object.keys(providers) as ProviderId[]).filter((provider) => isServed(client, provider))

/** The tables of fields: each is translated, and its outcome is shown. */
function fieldTables(): string {
  const tables = (Object.keys(fieldClients) as ClientId[]).map((client) => {
    const { title = '', samples = {} } = fieldClients[client] ?? {}
    const columns = servingOf(client).filter((id) => id !== 'vertex')
    const rows = Object.keys(samples).map((name) => `| \`${name}\` | ${columns.map((id) => fateOf(client, id, name)).join(' | ')} |`)
    return table(`${title}, field by field`, columns, rows)
  })
  return tables.join('\n\n')
}

/** The word of a cell of a conversation. */
function told(cell: Cell, notes: Notes): string {
  const { word, notes: why, isPart } = cellOf(cell)
  const numbers = why.length === 0 ? '' : ` (${notes.numbers(why)})`
  return `${word}${isPart ? ' in part' : ''}${numbers}`
}

/** The table of carried, transformed, refused and missing parts: from the data that the conformance tests run. */
export function dialectParts(): Readonly<Record<string, string>> {
  const notes = noteBook()
  const tables = (Object.keys(clientTitles) as ClientId[]).map((client) => {
    const columns = servingOf(client)
    const rows = caseIds
      .filter((name) => canSay(client, name))
      .map((name) => `| ${name} | ${columns.map((provider) => told({ client, provider, name }, notes)).join(' | ')} |`)
    return table(clientTitles[client], columns, rows)
  })
  return { conformance: [...tables, notes.written()].join('\n\n'), operations: taskTables(), fields: fieldTables() }
}
