import type { AskedWork } from './asked-work.ts'

const chat: Pick<AskedWork, 'task' | 'operation' | 'beginsJob'> = { task: 'conversation', operation: 'chatComplete', beginsJob: false }
const embedding: Pick<AskedWork, 'task' | 'operation' | 'beginsJob'> = { task: 'embedding', operation: 'embed', beginsJob: false }

/** The ends of providers' own paths that run a model, behind any prefix, and the work that they ask for. */
const ends: readonly (readonly [end: RegExp, work: AskedWork])[] = [
  [/\/models\/[^/]+:(?:generate|streamGenerate)Content$/, { ...chat, dialect: 'google' }],
  [/\/endpoints\/[^/]+:(?:generate|streamGenerate)Content$/, { ...chat, dialect: 'google' }],
  [/\/models\/[^/]+:(?:embedContent|batchEmbedContents)$/, { ...embedding, dialect: 'google' }],
  // Vertex AI serves other vendors' models in the vendors' own formats.
  [/\/publishers\/anthropic\/models\/[^/]+:(?:raw|streamRaw)Predict$/, { ...chat, operation: 'messages', dialect: 'anthropic' }],
  [/\/publishers\/mistralai\/models\/[^/]+:(?:raw|streamRaw)Predict$/, { ...chat, dialect: 'openai-chat' }],
  [/\/model\/[^/]+\/converse(?:-stream)?$/, { ...chat, dialect: 'bedrock' }],
  // The work of a model of Bedrock's is unknown.
  [/\/model\/[^/]+\/invoke(?:-with-response-stream)?$/, { task: null, dialect: 'bedrock', operation: null, beginsJob: false }],
  [/\/api\/(?:chat|generate)$/, { ...chat, dialect: 'ollama' }],
  [/\/api\/embed(?:dings)?$/, { ...embedding, dialect: 'ollama' }],
  [/\/v[12]\/chat$/, { ...chat, dialect: 'cohere' }],
  [/\/v[12]\/embed$/, { ...embedding, dialect: 'cohere' }],
  [/\/rerank$/, { task: 'rerank', dialect: 'cohere', operation: null, beginsJob: false }],
]

/** Returns the work that a path of a provider's own asks for; null: it is none of those that are known. */
export const workAtOwnPath = (path: string): AskedWork | null => ends.find(([end]) => end.test(path))?.[1] ?? null
