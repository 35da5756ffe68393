import type { Ask, ClientId, Say } from './talk.ts'

/** The requests and answers of each case, in no vendor's words. After each answer with calls, their results are sent. */
export interface Fixture {
  readonly title: string
  readonly stream: boolean
  readonly ask: Ask
  readonly says: readonly Say[]
  /** The results of the calls of the first answer, in this order, by the name of the tool. */
  readonly results?: Readonly<Record<string, string>>
  /** The clients whose format can express it; absent: all. */
  readonly clients?: readonly ClientId[]
}

const counts = { input: 20, cached: 0, output: 7, thought: 0 }
const user = (text: string) => ({ role: 'user' as const, pieces: [{ text }] })
const plain: Ask = { system: 'Be brief.', turns: [user('Weather in Paris?')], maxTokens: 2000 }
const sun: Say = { text: 'Sun ☀ in Paris.', stop: 'stop', counts }
const object = (properties: Record<string, unknown>, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const weather = { name: 'weather', parameters: object({ city: { type: 'string' } }, ['city']) }
const time = { name: 'time', parameters: object({ zone: { type: 'string' } }, ['zone']) }
const tools = [weather, time]
const calling: Say = { calls: [{ id: 'call_weather', name: 'weather', args: { city: 'Paris' } }], stop: 'tool-calls', counts }
const both: Say = { ...calling, calls: [...(calling.calls ?? []), { id: 'call_time', name: 'time', args: { zone: 'CET' } }] }
const results = { weather: 'sunny', time: '12:00' }
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const pdf = Buffer.from('%PDF-1.4\n%%EOF').toString('base64')
const wav = Buffer.from('RIFF\0\0\0\0WAVEfmt ').toString('base64')
const mp4 = Buffer.from('\0\0\0\u0018ftypmp42').toString('base64')
const thought = { text: 'Paris is in France.', signature: 'c2lnbmVkIGJ5IHRoZSB2ZW5kb3I=' }

/** A fixture, whole and as a stream. */
const twice = (title: string, rest: Omit<Fixture, 'title' | 'stream'>): readonly Fixture[] => [
  { title, stream: false, ...rest },
  { title: `${title}, as a stream`, stream: true, ...rest },
]

const answeredCalls: Ask = {
  ...plain,
  tools,
  turns: [
    user('Weather and time?'),
    { role: 'assistant', pieces: [{ text: 'I look.' }, ...(both.calls ?? []).map((call) => ({ call }))] },
    {
      role: 'user',
      pieces: (both.calls ?? []).map(({ id, name }) => ({ result: { id, name, text: results[name as keyof typeof results] } })),
    },
  ],
}

/** The cases of conversations that go on, by name. */
export const cases = {
  plain: [{ title: 'a question and its answer', stream: false, ask: plain, says: [sun] }],
  stream: [{ title: 'an answer in pieces', stream: true, ask: plain, says: [sun] }],
  tools: twice('a call and its result', { ask: { ...plain, tools: [weather] }, says: [calling, sun], results }),
  'parallel tools': twice('two calls and their results', { ask: { ...plain, tools }, says: [both, sun], results }),
  'tool results': twice('results in the history', { ask: answeredCalls, says: [sun] }),
  images: [
    {
      title: 'an image as bytes',
      stream: false,
      ask: { ...plain, turns: [{ role: 'user', pieces: [{ image: { mime: 'image/png', data: pixel } }, { text: 'What is it?' }] }] },
      says: [sun],
    },
  ],
  'image addresses': [
    {
      title: 'an image at an address',
      stream: false,
      ask: {
        ...plain,
        turns: [
          {
            role: 'user',
            pieces: [{ image: { mime: 'image/png', data: '', url: 'https://images.example/a.png' } }, { text: 'What is it?' }],
          },
        ],
      },
      says: [sun],
    },
  ],
  files: [
    {
      title: 'a PDF as bytes',
      stream: false,
      ask: {
        ...plain,
        turns: [{ role: 'user', pieces: [{ file: { mime: 'application/pdf', data: pdf, name: 'plan.pdf' } }, { text: 'What is it?' }] }],
      },
      says: [sun],
    },
  ],
  audio: [
    {
      title: 'a sound as bytes',
      stream: false,
      clients: ['openai-chat', 'google', 'google-array'],
      ask: { ...plain, turns: [{ role: 'user', pieces: [{ audio: { mime: 'audio/wav', data: wav } }, { text: 'What is it?' }] }] },
      says: [sun],
    },
  ],
  video: [
    {
      title: 'a film as bytes',
      stream: false,
      clients: ['google', 'google-array'],
      ask: { ...plain, turns: [{ role: 'user', pieces: [{ video: { mime: 'video/mp4', data: mp4 } }, { text: 'What is it?' }] }] },
      says: [sun],
    },
  ],
  'structured output': twice('an answer by a schema', {
    ask: { ...plain, schema: weather.parameters },
    says: [{ ...sun, text: '{"city":"Paris"}' }],
  }),
  'reasoning over two turns': twice('thoughts, a call, and all of it back', {
    ask: { ...plain, tools: [weather], thinks: true },
    says: [
      { ...calling, thought, counts: { ...counts, thought: 4 } },
      { ...sun, counts },
    ],
    results,
  }),
  'stop reasons': [
    ...twice('the cap of tokens', { ask: plain, says: [{ ...sun, stop: 'length' }] }),
    ...twice('a sequence', { ask: { ...plain, stop: 'END' }, says: [{ ...sun, stop: 'stop-sequence' }] }),
    ...twice('a filter', { ask: plain, says: [{ ...sun, stop: 'content-filter' }] }),
  ],
  usage: twice('tokens of caches and thoughts', {
    ask: plain,
    says: [{ ...sun, counts: { input: 20, cached: 8, output: 7, thought: 3 } }],
  }),
} as const satisfies Readonly<Record<string, readonly Fixture[]>>

/** The names of all cases: those above, and the two whose answers are cut. */
export const caseIds = [...(Object.keys(cases) as (keyof typeof cases)[]), 'errors', 'abort'] as const
export type CaseId = (typeof caseIds)[number]

/** Returns true if a client can express it, and differs in it from the others. */
export const isSaid = ({ clients, ask, stream }: Fixture, client: ClientId): boolean => {
  if (client === 'completions') return isPrompt(ask)
  // Google's client has only one way to ask for a case that is no stream.
  return (clients?.includes(client) ?? true) && (client !== 'google-array' || stream)
}

/** Returns true if one text holds it all. */
const isPrompt = ({ turns, schema, thinks, ...ask }: Ask): boolean =>
  turns.length === 1 &&
  turns.every(({ pieces }) => pieces.every((piece) => 'text' in piece)) &&
  ask.tools === undefined &&
  schema === undefined &&
  thinks !== true

/** The failures that providers answer with. */
export const statuses = [400, 401, 429, 500] as const
