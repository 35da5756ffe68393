import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import { countOf } from './neutral/token-usage.ts'
import { fieldsIn } from './reading.ts'
import type { Traits } from './traits.ts'

/** Reads requests for counts of tokens of one dialect, and writes their answers. */
export interface CountClient {
  /** Returns the conversation that is to be counted, as the dialect asks for its answer. */
  readonly conversation: (body: Fields, model: string) => Fields
  /** `estimated`: the count is not from the model's own vocabulary. */
  readonly answer: (tokens: number, estimated: boolean) => Fields
}

/** Asks providers of one dialect for a count. */
export interface CountProvider {
  /** Returns the body of the question, out of that of the conversation. */
  readonly ask: (conversation: Fields, to: { readonly model: string; readonly host: Traits['host'] }) => Fields
  /** Null: the answer is none. */
  readonly read: (answer: Fields) => number | null
}

const marked = (estimated: boolean): Fields => (estimated ? { estimated } : {})

export const countClients: Readonly<Partial<Record<DialectId, CountClient>>> = {
  'openai-responses': {
    conversation: (body) => body,
    answer: (tokens, estimated) => ({ object: 'response.input_tokens', input_tokens: tokens, ...marked(estimated) }),
  },
  anthropic: {
    conversation: (body) => body,
    answer: (tokens, estimated) => ({ input_tokens: tokens, ...marked(estimated) }),
  },
  google: {
    conversation(body) {
      const { model: _, ...whole } = fieldsIn(body, 'generateContentRequest') ?? body
      return whole
    },
    answer: (tokens, estimated) => ({ totalTokens: tokens, ...marked(estimated) }),
  },
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name]] as const] : [])))

const ofMessages = ['system', 'messages', 'tools', 'tool_choice', 'thinking']
const ofResponses = ['input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning']

/** The parts of a conversation that each API reads when it counts, and the place of its count. */
export const countProviders: Readonly<Partial<Record<DialectId, CountProvider>>> = {
  anthropic: {
    ask: (conversation, { model, host }) => ({
      ...(host === 'vertex' && { anthropic_version: 'vertex-2023-10-16' }),
      model,
      ...pick(conversation, ofMessages),
    }),
    read: (answer) => countOf(answer['input_tokens']),
  },
  google: {
    ask: (conversation, { model, host }) =>
      host === 'vertex'
        ? pick(conversation, ['contents', 'systemInstruction', 'tools', 'generationConfig'])
        : { generateContentRequest: { model: `models/${model}`, ...conversation } },
    read: (answer) => countOf(answer['totalTokens']),
  },
  bedrock: {
    ask: (conversation) => ({ input: { converse: pick(conversation, ['messages', 'system', 'toolConfig']) } }),
    read: (answer) => countOf(answer['inputTokens']),
  },
  'openai-responses': {
    ask: (conversation, { model }) => ({ model, ...pick(conversation, ofResponses) }),
    read: (answer) => countOf(answer['input_tokens']),
  },
}

/** Reads a count; null when the answer is none. */
export const readCount = (dialect: DialectId, answer: unknown): number | null =>
  isFields(answer) ? (countProviders[dialect]?.read(answer) ?? null) : null
