import { type CaseId, caseIds, cases, type Fixture, isSaid } from '../../test/conformance/cases.ts'
import { departuresOf } from '../../test/conformance/expected.ts'
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

/** The table of what is carried, transformed and refused: from the data that the conformance tests run. */
export function dialectParts(): Readonly<Record<string, string>> {
  const notes: string[] = []
  const numberOf = (note: string): number => (notes.includes(note) ? notes.indexOf(note) : notes.push(note) - 1) + 1
  const tables = Object.entries(clients).map(([client, title]) => {
    const rows = caseIds
      .filter((name) => canSay(client as ClientId, name))
      .map((name) => {
        const cells = Object.keys(providers).map((provider) => {
          const otherwise = servedOtherwise(client as ClientId, provider as ProviderId)
          if (otherwise !== null) return otherwise
          const found = departuresOf({ client: client as ClientId, provider: provider as ProviderId, name })
          if (found.length === 0) return 'carried'
          const numbers = [...new Set(found.map(({ note }) => numberOf(note)))].join(', ')
          return `${found.some(({ refused }) => refused !== undefined) ? 'refused' : 'transformed'} (${numbers})`
        })
        return `| ${name} | ${cells.join(' | ')} |`
      })
    const heads = Object.values(providers)
    return [`### ${title}`, '', `| | ${heads.join(' | ')} |`, `| --- |${' --- |'.repeat(heads.length)}`, ...rows].join('\n')
  })
  return { conformance: [...tables, notes.map((note, index) => `${index + 1}. ${note}`).join('\n')].join('\n\n') }
}
