import type { Behaviour } from '../support/emulator/behaviour.ts'
import type { Received } from '../support/emulator/emulator.ts'

/** The dialects of clients; Google's streams come as events or as one JSON array. */
export type ClientId = 'openai-chat' | 'openai-responses' | 'completions' | 'anthropic' | 'google' | 'google-array'

/** The dialects of providers, each with one provider that speaks it, and those that serve one at an address or with rules of their own. */
export type ProviderId =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic'
  | 'google'
  | 'vertex'
  | 'bedrock'
  | 'cohere'
  | 'ollama'
  | 'azure-ai'
  | 'azure-openai'
  | 'claude-bedrock'
  | 'claude-vertex'
  | 'claude-azure'
  | 'oracle'
  | 'oracle-cohere'
  | 'workers-ai'
  | 'replicate'
  | 'completions'
  | 'mistral'
  | 'mistral-fim'
  | 'huggingface'
  | 'azure-openai-v1'

/** A piece of a turn, in no vendor's words. */
export type Piece =
  | { readonly text: string }
  | { readonly image: Image }
  | { readonly file: { readonly mime: string; readonly data: string; readonly name: string } }
  | { readonly audio: { readonly mime: string; readonly data: string } }
  | { readonly video: { readonly mime: string; readonly data: string } }
  | Called
  | Result

/** An image as its bytes, or at an address. */
export interface Image {
  readonly mime: string
  readonly data: string
  readonly url?: string
}

/** Returns the address of an image, which may hold its bytes. */
export const addressOf = ({ mime, data, url }: Image): string => url ?? `data:${mime};base64,${data}`

/** Returns an address as a provider receives it; bytes in it stand as their type and themselves. */
export const heardUrl = (url: string): string => url.replace('data:', '').replace(';base64,', ' ')

export interface Called {
  readonly call: { readonly id: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> }
}

export interface Result {
  readonly result: { readonly id: string; readonly name: string; readonly text: string }
}

export interface Ask {
  readonly system?: string
  readonly turns: readonly { readonly role: 'user' | 'assistant'; readonly pieces: readonly Piece[] }[]
  readonly tools?: readonly { readonly name: string; readonly parameters: Readonly<Record<string, unknown>> }[]
  /** The answer must be JSON of this schema. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** The model thinks before it answers. */
  readonly thinks?: boolean
  readonly stop?: string
  readonly maxTokens: number
}

export type Stop = 'stop' | 'stop-sequence' | 'length' | 'tool-calls' | 'content-filter'

export interface Counts {
  /** All of the request, caches included. */
  readonly input: number
  readonly cached: number
  /** All of the answer, thoughts included. */
  readonly output: number
  readonly thought: number
}

/** A model's answer, in no vendor's words. */
export interface Say {
  readonly thought?: { readonly text: string; readonly signature: string }
  readonly text?: string
  readonly calls?: readonly Called['call'][]
  readonly stop: Stop
  readonly counts: Counts
}

/**
 * The understood facts of a request or of an answer, a fact to a line, so that both ends of a translation can be compared: `text Sun.`, `call weather
 * {"city":"Paris"}`, `stop length`, `tokens 20 (cached 4) 7 (thought 3)`.
 */
export type Lines = readonly string[]

/** An answer that a client has read. */
export interface Talk {
  readonly said: Lines
  readonly calls: readonly Called['call'][]
  /** Sends the results of the calls, after all earlier turns, as the client itself keeps them. */
  answer(results: readonly Result[]): Promise<Talk>
}

/** An official client at an address. */
export interface Talker {
  talk(ask: Ask, stream: boolean): Promise<Talk>
}

/** A client's way to a server. */
export interface Address {
  readonly origin: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  /** More fields of each request, in the words of no vendor's. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** For a client that leaves. */
  readonly signal?: AbortSignal
}

/** The provider's side of a dialect: its requests, their facts, and its answers. */
export interface ProviderSide {
  /** Why the real API refuses the request; null: it takes it. */
  refusal(received: Received): string | null
  heard(received: Received): Lines
  whole(say: Say, received: Received): Behaviour
  stream(say: Say, received: Received): Behaviour
  /** The first answer, where it only leads to the content. */
  begin?(say: Say, received: Received): Behaviour
  /** Answers requests to which an answer has led; null: it is another. */
  follow?(received: Received): { readonly answer: Behaviour; readonly isStream: boolean } | null
  /** The source of streams, when that is not the path of the request. */
  readonly streamPath?: RegExp
  /** True if a stream was asked for. */
  isStream(received: Received): boolean
  error(status: number, message: string): object
}

export const inOrder = (value: unknown): string => JSON.stringify(sorted(value))

/** Returns the line of a call in a provider's request, and remembers its name for its result. `given`: its arguments as JSON. */
export function heardCall({ id, name, given }: { id: string; name: string; given: string }, names: Map<string, string>): string {
  names.set(id, name)
  return `assistant call ${name} ${inOrder(JSON.parse(given))}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  )
}

/** An answer as a client should read it. */
export function saidOf({ thought, text, calls = [], stop, counts }: Say): Lines {
  return [
    ...(thought === undefined ? [] : [`thought ${thought.text}`]),
    ...(text === undefined ? [] : [`text ${text}`]),
    ...calls.map(({ name, args }) => `call ${name} ${inOrder(args)}`),
    `stop ${stop}`,
    tokens(counts),
  ]
}

export const tokens = ({ input, cached, output, thought }: Counts): string =>
  `tokens ${input} (cached ${cached}) ${output} (thought ${thought})`

/** A request as a provider should understand it. `thoughts` are those of the answers that came before. */
export function heardOf(ask: Ask): Lines {
  return [
    ...(ask.system === undefined ? [] : [`system ${ask.system}`]),
    ...ask.turns.flatMap(({ role, pieces }) => pieces.map((piece) => lineOf(role, piece))),
    ...(ask.tools ?? []).map(({ name, parameters }) => `tool ${name} ${inOrder(parameters)}`),
    ...(ask.schema === undefined ? [] : [`schema ${inOrder(ask.schema)}`]),
    ...(ask.thinks === true ? ['thinks'] : []),
    ...(ask.stop === undefined ? [] : [`stop ${ask.stop}`]),
    `at most ${ask.maxTokens}`,
  ]
}

export function lineOf(role: string, piece: Piece): string {
  if ('text' in piece) return `${role} text ${piece.text}`
  if ('image' in piece) return `${role} image ${piece.image.url ?? `${piece.image.mime} ${piece.image.data}`}`
  if ('file' in piece) return `${role} file ${piece.file.mime} ${piece.file.data}`
  if ('audio' in piece) return `${role} audio ${piece.audio.mime} ${piece.audio.data}`
  if ('video' in piece) return `${role} video ${piece.video.mime} ${piece.video.data}`
  if ('call' in piece) return `${role} call ${piece.call.name} ${inOrder(piece.call.args)}`
  return `result ${piece.result.name} ${piece.result.text}`
}

export const thoughtLine = (text: string, signature: string | null): string => `assistant thought ${text} ${signature ?? 'unsigned'}`
