import type { Fixture } from '../cases.ts'
import type { Address, ClientId, ProviderId, ProviderSide, Stop, Talker } from '../talk.ts'
import { messagesProvider, messagesTalker } from './anthropic.ts'
import { azureProvider, azureTalker } from './azure-ai.ts'
import { azureOpenaiProvider, azureOpenaiTalker, azureV1Provider, azureV1Talker } from './azure-openai.ts'
import { converseProvider, converseTalker } from './bedrock.ts'
import { cohereProvider, cohereTalker } from './cohere.ts'
import { googleProvider, googleTalker } from './google.ts'
import { azureClaude, bedrockClaude, invokeTalker, vertexClaude, vertexTalker } from './hosted-claude.ts'
import { ollamaProvider, ollamaTalker } from './ollama.ts'
import { oracleProvider, oracleTalker } from './oracle.ts'
import { oracleCohereProvider, oracleCohereTalker } from './oracle-cohere.ts'
import { completionsProvider, completionsTalker } from './completions.ts'
import { huggingfaceProvider, huggingfaceTalker } from './huggingface.ts'
import { fimTalker, mistralProvider, mistralTalker } from './mistral.ts'
import { chatProvider, chatTalker } from './openai-chat.ts'
import { replicateProvider, replicateTalker } from './replicate.ts'
import { responsesProvider, responsesTalker } from './openai-responses.ts'
import { workersProvider, workersTalker } from './workers-ai.ts'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'

/** The formats of clients, as the guide names them. */
export const clientTitles: Readonly<Record<ClientId, string>> = {
  'openai-chat': "OpenAI's chat completions",
  'openai-responses': "OpenAI's responses",
  completions: "OpenAI's completions",
  anthropic: "Anthropic's Messages",
  google: "Google's `generateContent`, streams of events",
  'google-array': "Google's `generateContent`, streams as one array",
}

/** The official client of each format, by the format. */
export const talkers: Readonly<Record<ClientId, (address: Address) => Talker>> = {
  'openai-chat': chatTalker,
  'openai-responses': responsesTalker,
  completions: completionsTalker,
  anthropic: messagesTalker,
  google: googleTalker,
  'google-array': (address) => googleTalker(address, true),
}

interface Provider {
  /** For the guide. */
  readonly title: string
  readonly side: ProviderSide
  /** The provider of the catalogue that stands for its dialect. */
  readonly row: string
  readonly fields: Readonly<Record<string, string>>
  readonly model: string
  /** The model that thinks; absent: the same. */
  readonly thinker?: string
  /** The model that clients of a format ask for in place of it. */
  readonly modelFor?: Readonly<Partial<Record<ClientId, string>>>
  /** The provider's own client, which proves the emulator. */
  readonly talker: (address: Address) => Talker
  /** The part of the path that a custom host has in it. */
  readonly base: '/v1' | '/models' | '/openai' | '/openai/v1' | ''
  /** The clients that are served so; absent: all. */
  readonly only?: readonly ClientId[]
  /** The provider in whose dialect some clients are served. */
  readonly as?: Readonly<Partial<Record<ClientId, ProviderId>>>
  /** A cloud, or one more provider, that speaks a dialect which is another's own. */
  readonly isCloud?: true
  /** Further fields by which clients of a format ask for this dialect. */
  readonly extraFor?: Readonly<Partial<Record<ClientId, Readonly<Record<string, unknown>>>>>
  /** Cases that it never answers, or that no client can ask it for in its dialect. */
  readonly lacks?: readonly Absence[]
}

/** Cases that no test can ask a provider for. */
interface Absence {
  /** Why, for the table of docs/reference/dialects.md. */
  readonly note: string
  readonly of: (fixture: Fixture, client: ClientId | null) => boolean
}

const stopsBy =
  (...stops: readonly Stop[]) =>
  ({ says }: Fixture): boolean =>
    says.some(({ stop }) => stops.includes(stop))
const noFilter = (who: string): Absence => ({
  note: `An end by a filter is not there: ${who} has no word for it.`,
  of: stopsBy('content-filter'),
})
const noThoughts = (note: string): Absence => ({ note, of: ({ ask }) => ask.thinks === true })

const aws = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }

/** Clients are asked for in Workers AI's own format if they give fields of it; without them in OpenAI's. */
const native = { provider_options: { 'workers-ai': { raw: false } } }
const nativeWorkers = {
  'openai-chat': native,
  'openai-responses': native,
  completions: native,
  anthropic: native,
  google: native,
  'google-array': native,
}

/** Completions of texts that a provider has itself. */
const ownCompletions = { completions: 'completions' } as const

const llama = '@cf/meta/llama-3.3-70b-instruct-fp8-fast'

/** Each dialect of providers. A new one is a row here and a file beside this one. */
export const providers: Readonly<Record<ProviderId, Provider>> = {
  'openai-chat': {
    title: 'Chat completions',
    side: chatProvider,
    row: 'ovhcloud',
    fields: {},
    model: 'gpt-4o',
    thinker: 'gpt-5',
    talker: chatTalker,
    base: '/v1',
  },
  'openai-responses': {
    title: 'Responses',
    side: responsesProvider,
    row: 'openai',
    fields: {},
    model: 'gpt-5-pro',
    talker: responsesTalker,
    base: '/v1',
    as: ownCompletions,
  },
  anthropic: {
    title: 'Messages',
    side: messagesProvider,
    row: 'anthropic',
    fields: {},
    model: 'claude-sonnet-4-5',
    talker: messagesTalker,
    base: '/v1',
  },
  google: { title: 'Gemini', side: googleProvider, row: 'google', fields: {}, model: 'gemini-2.5-flash', talker: googleTalker, base: '' },
  vertex: {
    title: 'Gemini at Vertex AI',
    side: googleProvider,
    row: 'vertex-ai',
    fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' },
    model: 'gemini-2.5-flash',
    talker: googleTalker,
    base: '',
  },
  bedrock: {
    title: 'Bedrock Converse',
    side: converseProvider,
    row: 'bedrock',
    fields: aws,
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    talker: converseTalker,
    base: '',
    // Anthropic's clients reach Claude in its own format.
    modelFor: { anthropic: 'amazon.nova-2-lite-v1:0' },
  },
  cohere: {
    title: 'Cohere v2',
    side: cohereProvider,
    row: 'cohere',
    fields: {},
    model: 'command-a-03-2025',
    thinker: 'command-a-reasoning-08-2025',
    talker: cohereTalker,
    base: '',
    lacks: [noFilter('Cohere')],
  },
  ollama: {
    title: "Ollama's own",
    side: ollamaProvider,
    row: 'ollama',
    fields: {},
    model: 'qwen3:8b',
    talker: ollamaTalker,
    base: '/v1',
    as: ownCompletions,
    // OpenAI's chats go there as they are unless they hold fields of Ollama's own.
    extraFor: { 'openai-chat': { provider_options: { ollama: { keep_alive: '5m' } } } },
    lacks: [noFilter('Ollama')],
  },
  oracle: {
    title: 'Oracle, generic',
    side: oracleProvider,
    row: 'oracle',
    fields: oracleCredential().fields,
    model: 'meta.llama-3.3-70b-instruct',
    talker: oracleTalker,
    base: '',
  },
  'oracle-cohere': {
    title: 'Oracle, Cohere',
    side: oracleCohereProvider,
    row: 'oracle',
    fields: oracleCredential().fields,
    model: 'cohere.command-r-plus-08-2024',
    talker: oracleCohereTalker,
    base: '',
    lacks: [noThoughts("Models of Cohere's first version do not think."), noFilter("Cohere's first version")],
  },
  'workers-ai': {
    title: "Workers AI's own",
    side: workersProvider,
    row: 'workers-ai',
    fields: { workers_ai_account_id: 'account' },
    model: llama,
    talker: workersTalker,
    base: '',
    // The path of Google's clients begins with the provider.
    modelFor: { google: `@workers-ai/${llama}`, 'google-array': `@workers-ai/${llama}` },
    // Other clients are asked for in OpenAI's format, which it has beside its own.
    extraFor: nativeWorkers,
    lacks: [
      noThoughts('Workers AI tells nothing of what a model thinks in its own format.'),
      {
        note: 'Ends by a cap or a filter are not there: Workers AI has no words for the end of an answer in its own format.',
        of: stopsBy('content-filter', 'length'),
      },
    ],
  },
  replicate: {
    title: 'Replicate',
    side: replicateProvider,
    row: 'replicate',
    fields: {},
    model: 'meta/meta-llama-3-70b-instruct',
    talker: replicateTalker,
    base: '/v1',
    lacks: [
      {
        note: 'Ends by a cap or a filter are not there: Replicate has no words for the end of an answer.',
        of: stopsBy('content-filter', 'length'),
      },
    ],
  },
  completions: {
    title: "OpenAI's completions",
    side: completionsProvider,
    row: 'openai',
    fields: {},
    model: 'gpt-3.5-turbo-instruct',
    talker: completionsTalker,
    base: '/v1',
    only: ['completions'],
    isCloud: true,
  },
  'azure-ai': {
    title: 'Azure AI Inference',
    side: azureProvider,
    row: 'azure-ai',
    fields: {},
    model: 'DeepSeek-R1',
    talker: azureTalker,
    base: '/models',
    as: ownCompletions,
  },
  'azure-openai': {
    title: 'Azure OpenAI',
    side: azureOpenaiProvider,
    row: 'azure-openai',
    fields: { azure_resource_name: 'resource' },
    model: 'gpt-4o',
    thinker: 'gpt-5',
    talker: azureOpenaiTalker,
    base: '/openai',
    isCloud: true,
    as: ownCompletions,
  },
  mistral: {
    title: "Mistral's chats",
    side: mistralProvider,
    row: 'mistral-ai',
    fields: {},
    model: 'mistral-large-latest',
    thinker: 'magistral-medium-latest',
    talker: mistralTalker,
    base: '/v1',
    lacks: [noFilter('Mistral')],
    // The words of OpenAI's chats pass unchanged.
    only: ['openai-responses', 'completions', 'anthropic', 'google', 'google-array'],
    isCloud: true,
  },
  'mistral-fim': {
    title: "Mistral's texts that are filled in",
    side: mistralProvider,
    row: 'mistral-ai',
    fields: {},
    model: 'codestral-latest',
    talker: fimTalker,
    base: '/v1',
    lacks: [noFilter('Mistral')],
    only: ['completions'],
    isCloud: true,
  },
  huggingface: {
    title: "Hugging Face's router",
    side: huggingfaceProvider,
    row: 'huggingface',
    fields: {},
    model: 'meta-llama/Llama-3.3-70B-Instruct',
    thinker: 'openai/gpt-oss-120b',
    talker: huggingfaceTalker,
    base: '',
    as: ownCompletions,
    isCloud: true,
  },
  'azure-openai-v1': {
    title: 'Azure OpenAI by `v1`',
    side: azureV1Provider,
    row: 'azure-openai',
    fields: { azure_resource_name: 'resource', azure_api_version: 'v1' },
    model: 'gpt-4o',
    thinker: 'gpt-5',
    talker: azureV1Talker,
    base: '/openai/v1',
    as: ownCompletions,
    isCloud: true,
  },
  'claude-bedrock': {
    title: 'Claude on Bedrock',
    side: bedrockClaude,
    row: 'bedrock',
    fields: aws,
    // An inference profile of several regions.
    model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    talker: invokeTalker,
    base: '',
    // All others go by Converse.
    only: ['anthropic'],
    isCloud: true,
  },
  'claude-vertex': {
    title: 'Claude on Vertex AI',
    side: vertexClaude,
    row: 'vertex-ai',
    fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' },
    model: 'claude-sonnet-4-5@20250929',
    talker: vertexTalker,
    base: '',
    isCloud: true,
  },
  'claude-azure': {
    title: 'Claude on Azure',
    side: azureClaude,
    row: 'azure-ai',
    fields: {},
    model: 'claude-sonnet-4-5',
    talker: (address) => messagesTalker({ ...address, origin: `${address.origin}/anthropic` }),
    base: '',
    isCloud: true,
    as: ownCompletions,
  },
}

const ids = Object.keys(providers) as ProviderId[]

/** The providers with a dialect of their own. */
export const dialectProviders: readonly ProviderId[] = ids.filter((id) => providers[id].isCloud !== true)

/** Returns true if a provider serves a client in this dialect, or in the one that stands for it. */
export const isServed = (client: ClientId, provider: ProviderId): boolean => providers[provider].only?.includes(client) ?? true

/** Returns the provider whose dialect stands for the way in which a provider serves a client: itself, unless it has several. */
export const servedAs = (client: ClientId, provider: ProviderId): ProviderId => providers[provider].as?.[client] ?? provider

/** Returns the side that a provider shows to a client. */
export const sideFor = (client: ClientId, provider: ProviderId): ProviderSide => providers[servedAs(client, provider)].side

/** Each client at each provider that serves it. */
export const pairs: readonly (readonly [client: ClientId, provider: ProviderId])[] = (Object.keys(talkers) as ClientId[]).flatMap(
  (client) => ids.filter((id) => isServed(client, id)).map((id) => [client, id] as const),
)
