import type { CaseId } from './cases.ts'
import type { ClientId, ProviderId } from './talk.ts'

/** Where a translation does more than to carry: the refused cases, and the facts that are understood in another way. */
export interface Departure {
  /** For the table of docs/reference/dialects.md. */
  readonly note: string
  /** Absent: all. */
  readonly clients?: readonly ClientId[]
  readonly providers?: readonly ProviderId[]
  readonly cases?: readonly CaseId[]
  /** The pairs that it concerns. */
  readonly pairs?: (client: ClientId, provider: ProviderId) => boolean
  /** The provider's and the client's line in place of one that matches; null: none. */
  readonly heard?: readonly (readonly [from: RegExp, to: string | null])[]
  readonly said?: readonly (readonly [from: RegExp, to: string | null])[]
  /** The message of the 400. */
  readonly refused?: RegExp
}

const gemini: readonly ProviderId[] = ['google', 'vertex']

export const departures: readonly Departure[] = [
  // Fields that the format of a provider has no place for, for its own client too.
  {
    note: 'OpenAI shows nothing of what a model thinks in chat completions.',
    providers: ['openai-chat', 'azure-openai', 'azure-openai-v1', 'huggingface'],
    pairs: (client, provider) => client !== 'openai-responses' || !provider.startsWith('azure-openai'),
    heard: [[/^assistant thought .*/, null]],
    said: [[/^thought .*/, null]],
  },
  {
    note: 'The provider does not say which tokens were thoughts.',
    providers: ['bedrock', 'cohere', 'ollama', 'workers-ai', 'replicate', 'mistral', 'mistral-fim'],
    said: [[/\(thought \d+\)/, '(thought 0)']],
  },
  {
    note: 'The provider does not say what came from a cache.',
    providers: ['ollama', 'workers-ai', 'replicate', 'mistral', 'mistral-fim'],
    said: [[/\(cached \d+\)/, '(cached 0)']],
  },
  {
    note: 'Models of Oracle sign no thoughts.',
    providers: ['oracle'],
    heard: [[/^(assistant thought .*) \S+$/, '$1 unsigned']],
  },
  {
    note: 'A PDF or an image is refused: models of Cohere on Oracle read texts in the format of its first version.',
    providers: ['oracle-cohere'],
    cases: ['files', 'images', 'image addresses'],
    refused: /cannot be translated for oracle: it is (?:image, which this model does not take|no text, and documents are texts there)/,
  },
  {
    note: 'A PDF is refused: Workers AI reads texts and images.',
    providers: ['workers-ai'],
    cases: ['files'],
    refused: /cannot be translated for workers-ai: it is file, which this provider does not take/,
  },
  {
    note: 'Tools, schemas and files are refused: models on Replicate read one prompt.',
    providers: ['replicate'],
    cases: ['tools', 'parallel tools', 'tool results', 'structured output', 'reasoning over two turns', 'files'],
    refused: /cannot be translated for replicate: it (?:asks for (?:tools|a form of answers)|is file, which this provider does not take)/,
  },
  {
    note: 'Workers AI takes no sequences at which a model stops in its own format: they are dropped and named.',
    providers: ['workers-ai'],
    heard: [[/^stop .*/, null]],
  },
  {
    note: 'The provider signs no thoughts.',
    providers: ['cohere', 'mistral', 'ollama'],
    heard: [[/^(assistant thought .*) \S+$/, '$1 unsigned']],
  },
  {
    note: 'Azure AI Inference takes no thoughts back: they are dropped and named.',
    providers: ['azure-ai'],
    heard: [[/^assistant thought .*/, null]],
  },
  {
    note: 'A sequence at which the model stopped is told as an ordinary end.',
    clients: ['openai-chat', 'openai-responses', 'completions', 'google', 'google-array'],
    said: [[/^stop stop-sequence$/, 'stop stop']],
  },
  {
    note: 'A sequence at which the model stopped is told as an ordinary end.',
    providers: [
      'openai-chat',
      'openai-responses',
      ...gemini,
      'ollama',
      'azure-ai',
      'azure-openai',
      'azure-openai-v1',
      'huggingface',
      'mistral',
      'mistral-fim',
      'oracle',
      'oracle-cohere',
      'workers-ai',
      'replicate',
    ],
    said: [[/^stop stop-sequence$/, 'stop stop']],
  },
  {
    note: "Google's format tells calls, and ends them like any answer.",
    clients: ['google', 'google-array'],
    said: [[/^stop tool-calls$/, 'stop stop']],
  },
  {
    note: 'Responses take no sequences at which a model stops.',
    clients: ['openai-responses'],
    heard: [[/^stop .*/, null]],
  },
  {
    note: 'The signature of a call goes back to Google with the call; the thought itself, which nobody signed, is dropped and named.',
    clients: ['openai-chat', 'openai-responses', 'anthropic'],
    providers: gemini,
    heard: [[/^assistant thought .* (\S+)$/, 'signed $1']],
  },
  {
    note: 'OpenAI takes no sequences in responses: they are dropped and named.',
    providers: ['openai-responses'],
    heard: [[/^stop .*/, null]],
  },
  {
    note: 'A PDF is refused: documents are texts at Cohere.',
    providers: ['cohere'],
    cases: ['files'],
    refused: /cannot be translated for cohere: it is no text, and documents are texts there/,
  },
  {
    note: 'An address is refused: images are bytes there.',
    providers: ['bedrock', 'ollama', 'workers-ai'],
    cases: ['image addresses'],
    refused: /must be a data URL: this provider opens no addresses/,
  },
  {
    note: 'A sound is refused: the provider takes none.',
    providers: [
      'openai-responses',
      'anthropic',
      'cohere',
      'ollama',
      'claude-bedrock',
      'claude-vertex',
      'claude-azure',
      'oracle-cohere',
      'workers-ai',
      'replicate',
    ],
    cases: ['audio'],
    refused: /it is audio, which (?:this (?:provider|model) does not take|has no place there)/,
  },
  {
    note: 'A film is refused: the provider takes none.',
    providers: [
      'openai-chat',
      'openai-responses',
      'anthropic',
      'cohere',
      'ollama',
      'azure-ai',
      'azure-openai',
      'azure-openai-v1',
      'huggingface',
      'mistral',
      'claude-bedrock',
      'claude-vertex',
      'claude-azure',
      'oracle',
      'oracle-cohere',
      'workers-ai',
      'replicate',
    ],
    cases: ['video'],
    refused: /it is video, which (?:this (?:provider|model) does not take|has no place there)/,
  },
  {
    note: 'A PDF is refused: documents are texts at Ollama.',
    providers: ['ollama'],
    cases: ['files'],
    refused: /cannot be translated for ollama: it is no text, and documents are texts there/,
  },
  {
    note: 'Thoughts of earlier turns are dropped and named.',
    providers: ['cohere', 'mistral'],
    heard: [[/^assistant thought .*/, null]],
    clients: ['openai-chat', 'openai-responses', 'anthropic', 'google', 'google-array'],
  },
  {
    note: 'A model without a mode for schemas answers by a tool, and its arguments are the text of the answer.',
    clients: ['anthropic'],
    providers: ['bedrock'],
    cases: ['structured output'],
    heard: [
      [/^schema (.*)/, 'tool final_answer $1'],
      [/^(at most .*)/, '$1\nmust call final_answer'],
    ],
  },
]
