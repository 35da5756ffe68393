import { countsStrictly } from '../../support/dialects/strict-counts.ts'
import type { Lines } from '../talk.ts'
import { type Area, clouds, errorIn, plainError, type TaskAddress } from './area.ts'
import { anthropicAt, googleAt } from './clients.ts'

const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] }
const question = 'How many tokens are these words?'

const countLine = (tokens: number | undefined, answer: object): string =>
  Reflect.get(answer, 'estimated') === true ? 'tokens estimated' : `tokens ${tokens}`

async function askAnthropic({ model, ...address }: TaskAddress, more: object = {}): Promise<Lines> {
  const messages = [{ role: 'user' as const, content: question }]
  const counted = await anthropicAt(address).messages.countTokens({ model, messages, ...more })
  return [countLine(counted.input_tokens, counted)]
}

/** Google's own client reads the count, and no detail of its origin. */
async function askGoogle({ model, ...address }: TaskAddress): Promise<Lines> {
  const { totalTokens = 0 } = await googleAt(address).models.countTokens({ model, contents: question })
  return [`tokens ${totalTokens === 11 ? 11 : 'estimated'}`]
}

const claudes = { model: 'claude-sonnet-4-5', format: 'anthropic' }
const geminis = { model: 'gemini-2.5-flash', format: 'google' }

export const counts: Area = {
  title: 'Counts of tokens',
  tasks: ['token-count'],
  unable: null,
  serve: (received) => countsStrictly(received, 11),
  clients: {
    anthropic: {
      title: "Anthropic's `count_tokens`",
      refusedAs: null,
      cases: {
        'a conversation': { ask: (address) => askAnthropic(address), heard: [question], said: ['tokens 11'] },
        'with instructions and a tool': {
          ask: (address) => askAnthropic(address, { system: 'Be brief.', tools: [{ name: 'weather', input_schema: schema }] }),
          heard: [question, 'Be brief.', 'weather'],
          said: ['tokens 11'],
        },
      },
    },
    google: {
      title: "Google's `countTokens`",
      refusedAs: null,
      cases: { 'a conversation': { ask: askGoogle, heard: [question], said: ['tokens 11'] } },
    },
  },
  providers: {
    anthropic: { ...claudes, title: 'Anthropic', row: 'anthropic', base: '/anthropic/v1', error: plainError },
    google: { ...clouds.google, ...geminis, title: 'Gemini', base: '/google' },
    openai: { title: 'OpenAI', row: 'openai', base: '/v1', model: 'gpt-5', format: 'openai-responses', error: plainError },
    bedrock: {
      ...clouds.bedrock,
      title: 'Bedrock',
      base: '/bedrock',
      model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      format: 'bedrock',
    },
    'vertex-claude': { ...clouds.vertex, ...claudes, title: 'Claude on Vertex AI', base: '/vertex' },
    'vertex-gemini': { ...clouds.vertex, ...geminis, title: 'Gemini on Vertex AI', base: '/vertex' },
    others: {
      title: 'All others',
      row: 'cohere',
      base: '/cohere',
      model: 'command-a',
      format: null,
      asked: false,
      error: errorIn('message'),
    },
  },
  departures: [
    {
      note: 'Nobody else counts: Gatehouse estimates, the answer says so, and no provider is asked.',
      providers: ['others'],
      said: [[/^tokens 11$/, 'tokens estimated']],
      unheard: [question, 'Be brief.', 'weather'],
    },
  ],
}
