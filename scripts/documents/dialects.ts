import { caseIds } from '../../test/conformance/cases.ts'
import { departuresOf } from '../../test/conformance/expected.ts'
import type { ClientId, ProviderId } from '../../test/conformance/talk.ts'

const clients: Readonly<Record<ClientId, string>> = {
  'openai-chat': "OpenAI's chat completions",
  'openai-responses': "OpenAI's responses",
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
}

/** The table of what is carried, transformed and refused: from the data that the conformance tests run. */
export function dialectParts(): Readonly<Record<string, string>> {
  const notes: string[] = []
  const numberOf = (note: string): number => (notes.includes(note) ? notes.indexOf(note) : notes.push(note) - 1) + 1
  const tables = Object.entries(clients).map(([client, title]) => {
    const rows = caseIds.map((name) => {
      const cells = Object.keys(providers).map((provider) => {
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
