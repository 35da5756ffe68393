import type { Fixture } from '../cases.ts'
import type { Address, ClientId, ProviderId, ProviderSide, Talker } from '../talk.ts'
import { messagesProvider, messagesTalker } from './anthropic.ts'
import { azureProvider, azureTalker } from './azure-ai.ts'
import { azureOpenaiProvider, azureOpenaiTalker } from './azure-openai.ts'
import { converseProvider, converseTalker } from './bedrock.ts'
import { cohereProvider, cohereTalker } from './cohere.ts'
import { googleProvider, googleTalker } from './google.ts'
import { azureClaude, bedrockClaude, invokeTalker, vertexClaude, vertexTalker } from './hosted-claude.ts'
import { ollamaProvider, ollamaTalker } from './ollama.ts'
import { oracleProvider, oracleTalker } from './oracle.ts'
import { oracleCohereProvider, oracleCohereTalker } from './oracle-cohere.ts'
import { completionsTalker } from './completions.ts'
import { chatProvider, chatTalker } from './openai-chat.ts'
import { replicateProvider, replicateTalker } from './replicate.ts'
import { responsesProvider, responsesTalker } from './openai-responses.ts'
import { workersProvider, workersTalker } from './workers-ai.ts'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'

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
  /** What of the path a custom host has in it. */
  readonly base: '/v1' | '/models' | '/openai' | ''
  /** The clients that are served so, and the provider in whose dialect all others are. Absent: all are served so. */
  readonly clients?: { readonly only: readonly ClientId[]; readonly othersAs: ProviderId }
  /** True if it has completions of texts itself, and gets them as they are. */
  readonly completes?: true
  /** A cloud that serves a dialect which is another provider's own. */
  readonly isCloud?: true
  /** More that clients of a format say to be asked in this dialect. */
  readonly extraFor?: Readonly<Partial<Record<ClientId, Readonly<Record<string, unknown>>>>>
  /** What it never answers, or no client can ask it for in its dialect. */
  readonly lacks?: (fixture: Fixture, client: ClientId | null) => boolean
}

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

const llama = '@cf/meta/llama-3.3-70b-instruct-fp8-fast'

/** Each dialect of providers. A new one is a row here and a file beside this one. */
export const providers: Readonly<Record<ProviderId, Provider>> = {
  'openai-chat': { side: chatProvider, row: 'ovhcloud', fields: {}, model: 'gpt-4o', thinker: 'gpt-5', talker: chatTalker, base: '/v1' },
  'openai-responses': {
    side: responsesProvider,
    row: 'openai',
    fields: {},
    model: 'gpt-5-pro',
    talker: responsesTalker,
    base: '/v1',
    completes: true,
  },
  anthropic: { side: messagesProvider, row: 'anthropic', fields: {}, model: 'claude-sonnet-4-5', talker: messagesTalker, base: '/v1' },
  google: { side: googleProvider, row: 'google', fields: {}, model: 'gemini-2.5-flash', talker: googleTalker, base: '' },
  vertex: {
    side: googleProvider,
    row: 'vertex-ai',
    fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' },
    model: 'gemini-2.5-flash',
    talker: googleTalker,
    base: '',
  },
  bedrock: {
    side: converseProvider,
    row: 'bedrock',
    fields: aws,
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    talker: converseTalker,
    base: '',
    // Anthropic's clients reach Claude in its own format.
    modelFor: { anthropic: 'amazon.nova-pro-v1:0' },
    lacks: ({ ask }, client) => client === 'anthropic' && ask.thinks === true,
  },
  cohere: {
    side: cohereProvider,
    row: 'cohere',
    fields: {},
    model: 'command-a-03-2025',
    thinker: 'command-a-reasoning-08-2025',
    talker: cohereTalker,
    base: '',
    // Cohere has no word for a filter.
    lacks: ({ says }) => says.some(({ stop }) => stop === 'content-filter'),
  },
  ollama: {
    side: ollamaProvider,
    row: 'ollama',
    fields: {},
    model: 'qwen3:8b',
    talker: ollamaTalker,
    base: '/v1',
    completes: true,
    // OpenAI's chats go there as they are unless they hold fields of Ollama's own.
    extraFor: { 'openai-chat': { provider_options: { ollama: { keep_alive: '5m' } } } },
    // Ollama has no word for a filter.
    lacks: ({ says }) => says.some(({ stop }) => stop === 'content-filter'),
  },
  oracle: {
    side: oracleProvider,
    row: 'oracle',
    fields: oracleCredential().fields,
    model: 'meta.llama-3.3-70b-instruct',
    talker: oracleTalker,
    base: '',
  },
  'oracle-cohere': {
    side: oracleCohereProvider,
    row: 'oracle',
    fields: oracleCredential().fields,
    model: 'cohere.command-r-plus-08-2024',
    talker: oracleCohereTalker,
    base: '',
    // Its models do not think, and it has no word for a filter but that of an error.
    lacks: ({ says, ask }) => ask.thinks === true || says.some(({ stop }) => stop === 'content-filter'),
  },
  'workers-ai': {
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
    // It tells nothing of what a model thinks, and has no words for the end of an answer: a count that is the cap tells one of them.
    lacks: ({ says, ask }) => ask.thinks === true || says.some(({ stop }) => stop === 'content-filter' || stop === 'length'),
  },
  replicate: {
    side: replicateProvider,
    row: 'replicate',
    fields: {},
    model: 'meta/meta-llama-3-70b-instruct',
    talker: replicateTalker,
    base: '/v1',
    // It has no words for the end of an answer.
    lacks: ({ says }) => says.some(({ stop }) => stop === 'content-filter' || stop === 'length'),
  },
  'azure-ai': {
    side: azureProvider,
    row: 'azure-ai',
    fields: {},
    model: 'DeepSeek-R1',
    talker: azureTalker,
    base: '/models',
    completes: true,
  },
  'azure-openai': {
    side: azureOpenaiProvider,
    row: 'azure-openai',
    fields: { azure_resource_name: 'resource' },
    model: 'gpt-4o',
    thinker: 'gpt-5',
    talker: azureOpenaiTalker,
    base: '/openai',
    isCloud: true,
    completes: true,
  },
  'claude-bedrock': {
    side: bedrockClaude,
    row: 'bedrock',
    fields: aws,
    // An inference profile of several regions.
    model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    talker: invokeTalker,
    base: '',
    // All others go by Converse.
    clients: { only: ['anthropic'], othersAs: 'bedrock' },
    isCloud: true,
  },
  'claude-vertex': {
    side: vertexClaude,
    row: 'vertex-ai',
    fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' },
    model: 'claude-sonnet-4-5@20250929',
    talker: vertexTalker,
    base: '',
    isCloud: true,
  },
  'claude-azure': {
    side: azureClaude,
    row: 'azure-ai',
    fields: {},
    model: 'claude-sonnet-4-5',
    talker: (address) => messagesTalker({ ...address, origin: `${address.origin}/anthropic` }),
    base: '',
    isCloud: true,
    completes: true,
  },
}

const ids = Object.keys(providers) as ProviderId[]

/** The providers with a dialect of their own. */
export const dialectProviders: readonly ProviderId[] = ids.filter((id) => providers[id].isCloud !== true)

/** Why the requests of a client are not translated to the dialect of a provider: the provider serves them otherwise. Null: they are. */
export const servedOtherwise = (client: ClientId, provider: ProviderId): string | null =>
  client === 'completions' && providers[provider].completes === true ? 'as it is' : null

/** Returns the provider whose dialect stands for the way in which a provider serves a client: itself, unless it has several. */
export function servedAs(client: ClientId, provider: ProviderId): ProviderId {
  const { clients } = providers[provider]
  return clients === undefined || clients.only.includes(client) ? provider : clients.othersAs
}

/** Returns the side that a provider shows to a client. */
export const sideFor = (client: ClientId, provider: ProviderId): ProviderSide => providers[servedAs(client, provider)].side

/** Each client at each provider that serves it. */
export const pairs: readonly (readonly [client: ClientId, provider: ProviderId])[] = (Object.keys(talkers) as ClientId[]).flatMap(
  (client) => ids.filter((id) => servedOtherwise(client, id) === null).map((id) => [client, id] as const),
)
