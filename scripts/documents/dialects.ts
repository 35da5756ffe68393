import { type CaseId, caseIds, cases, type Fixture, isSaid } from '../../test/conformance/cases.ts'
import { departuresOf } from '../../test/conformance/expected.ts'
import { fateOf, fieldClients } from '../../test/conformance/fields.ts'
import { type Area, casesOf, departuresAt, isServed, type TaskClient } from '../../test/conformance/tasks/area.ts'
import { areas } from '../../test/conformance/tasks/index.ts'
import { servedOtherwise } from '../../test/conformance/sides/index.ts'
import type { ClientId, ProviderId } from '../../test/conformance/talk.ts'

const clients: Readonly<Record<ClientId, string>> = {
  'openai-chat': "OpenAI's chat completions",
  'openai-responses': "OpenAI's responses",
  completions: "OpenAI's completions",
  anthropic: "Anthropic's Messages",
  google: "Google's `generateContent`, streams of events",
  'google-array': "Google's `generateContent`, streams as one array",
}

const providers: Readonly<Record<ProviderId, string>> = {
  'openai-chat': 'Chat completions',
  'openai-responses': 'Responses',
  anthropic: 'Messages',
  google: 'Gemini',
  vertex: 'Gemini at Vertex AI',
  bedrock: 'Bedrock Converse',
  cohere: 'Cohere v2',
  ollama: "Ollama's own",
  'azure-ai': 'Azure AI Inference',
  'azure-openai': 'Azure OpenAI',
  'claude-bedrock': 'Claude on Bedrock',
  'claude-vertex': 'Claude on Vertex AI',
  'claude-azure': 'Claude on Azure',
  oracle: 'Oracle, generic',
  'oracle-cohere': 'Oracle, Cohere',
  'workers-ai': "Workers AI's own",
  replicate: 'Replicate',
}

/** Returns true if the format of a client has words for a case. */
const canSay = (client: ClientId, name: CaseId): boolean => {
  const fixtures: readonly Fixture[] = name === 'errors' || name === 'abort' ? [] : cases[name]
  return fixtures.length === 0 || fixtures.some((fixture) => isSaid(fixture, client))
}

/** Numbers notes in the order in which tables name them. */
function noteBook() {
  const notes: string[] = []
  return {
    numbers: (found: readonly { readonly note: string }[]): string =>
      [...new Set(found.map(({ note }) => (notes.includes(note) ? notes.indexOf(note) : notes.push(note) - 1) + 1))].join(', '),
    written: (): string => notes.map((note, index) => `${index + 1}. ${note}`).join('\n'),
  }
}

type Notes = ReturnType<typeof noteBook>

/** A table with a row for each provider: operations have more providers than cases. */
function taskTable(area: Area, client: string, spec: TaskClient, notes: Notes): string {
  const names = casesOf(spec)
  const rows = Object.entries(area.providers)
    .filter(([provider]) => isServed(area, client, provider))
    .map(([provider, { title, format, asked }]) => {
      const cells = names.map((name) => {
        const found = departuresAt(area, { client, provider, name })
        if (name === 'errors' && asked === false) return 'there are none'
        if (found.length === 0) return format === null ? 'as it is' : 'carried'
        return `${found.some(({ refused }) => refused !== undefined) ? 'refused' : 'transformed'} (${notes.numbers(found)})`
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

/** The tables of fields: each is translated, and what comes of it is told. */
function fieldTables(): string {
  const ids = (Object.keys(providers) as ProviderId[]).filter((id) => id !== 'vertex')
  const tables = (Object.keys(fieldClients) as ClientId[]).map((client) => {
    const { title = '', samples = {} } = fieldClients[client] ?? {}
    const rows = Object.keys(samples).map(
      (name) => `| \`${name}\` | ${ids.map((id) => servedOtherwise(client, id) ?? fateOf(client, id, name)).join(' | ')} |`,
    )
    const heads = ids.map((id) => providers[id])
    return [`### ${title}, field by field`, '', `| | ${heads.join(' | ')} |`, `| --- |${' --- |'.repeat(heads.length)}`, ...rows].join('\n')
  })
  return tables.join('\n\n')
}

/** The table of what is carried, transformed and refused: from the data that the conformance tests run. */
export function dialectParts(): Readonly<Record<string, string>> {
  const notes = noteBook()
  const tables = Object.entries(clients).map(([client, title]) => {
    const rows = caseIds
      .filter((name) => canSay(client as ClientId, name))
      .map((name) => {
        const cells = Object.keys(providers).map((provider) => {
          const otherwise = servedOtherwise(client as ClientId, provider as ProviderId)
          if (otherwise !== null) return otherwise
          const found = departuresOf({ client: client as ClientId, provider: provider as ProviderId, name })
          if (found.length === 0) return 'carried'
          return `${found.some(({ refused }) => refused !== undefined) ? 'refused' : 'transformed'} (${notes.numbers(found)})`
        })
        return `| ${name} | ${cells.join(' | ')} |`
      })
    const heads = Object.values(providers)
    return [`### ${title}`, '', `| | ${heads.join(' | ')} |`, `| --- |${' --- |'.repeat(heads.length)}`, ...rows].join('\n')
  })
  return { conformance: [...tables, notes.written()].join('\n\n'), operations: taskTables(), fields: fieldTables() }
}
