import test from 'ava'
import { estimateTokens, isBounded, outputTokens } from '../../../../src/gateway/limits/estimate.ts'
import { inputBound, strictInputBound } from '../../../../src/gateway/limits/input-bound.ts'
import { type OutputReader, outputReader } from '../../../../src/gateway/limits/output-bound.ts'
import { findProvider } from '../../../../src/gateway/providers/catalog.ts'

const readers = {
  openai: readerAt('openai'),
  together: readerAt('together-ai'),
  'together, by its own path': readerAt('together-ai', 'openai-chat', true),
  openrouter: readerAt('openrouter'),
  anyscale: readerAt('anyscale'),
  'chats for Anthropic': readerAt('anthropic'),
  responses: readerAt('openai', 'openai-responses'),
  completions: readerAt('openai', 'completions'),
  anthropic: readerAt('anthropic', 'anthropic'),
  google: readerAt('google', 'google'),
  bedrock: readerAt('bedrock', 'bedrock'),
  'a path that no format is known of': readerAt('bedrock', null, true),
} as const satisfies Readonly<Record<string, OutputReader>>
type ReaderName = keyof typeof readers

function readerAt(providerId: string, dialect: OutputReader['dialect'] = 'openai-chat', isOwnPath = false): OutputReader {
  const provider = findProvider(providerId)
  if (provider === null) throw new Error(providerId)
  return outputReader({ dialect, provider, providerId, fields: {}, isOwnPath })
}

const completed = (json: object, unbounded = 1) => outputTokens(json, readers.completions, { unbounded })

test('the most tokens of all answers together: of each prompt, and of each choice of it', (t) => {
  t.is(completed({ prompt: 'a', max_tokens: 10 }), 10)
  t.is(completed({ prompt: ['a', 'b', 'c'], max_tokens: 10 }), 30)
  t.is(completed({ prompt: ['a', 'b'], n: 2, max_tokens: 10 }), 40)
  t.is(completed({ prompt: [[1, 2], [3]], max_tokens: 10 }), 20)
  t.is(completed({ prompt: [1, 2, 3], max_tokens: 10 }), 10)
  t.is(completed({ prompt: [] }, 16), 16)
})

/** The texts that each reader surely reads. */
const read: readonly (readonly [reader: ReaderName, json: (most: number) => object])[] = [
  ['openai', (most) => ({ max_tokens: most })],
  ['openai', (most) => ({ max_completion_tokens: most })],
  ['together', (most) => ({ max_tokens: most })],
  ['together', (most) => ({ max_completion_tokens: most })],
  ['together, by its own path', (most) => ({ max_tokens: most })],
  ['openrouter', (most) => ({ max_tokens: most })],
  ['openrouter', (most) => ({ max_completion_tokens: most })],
  ['anyscale', (most) => ({ max_tokens: most })],
  ['chats for Anthropic', (most) => ({ max_completion_tokens: most })],
  ['responses', (most) => ({ max_output_tokens: most })],
  ['completions', (most) => ({ max_tokens: most })],
  ['anthropic', (most) => ({ max_tokens: most })],
  ['google', (most) => ({ generationConfig: { maxOutputTokens: most } })],
  ['google', (most) => ({ generation_config: { max_output_tokens: most } })],
  ['bedrock', (most) => ({ inferenceConfig: { maxTokens: most } })],
]

/** Every name of a bound that there is, wherever a format has it. */
const everywhere = (most: number): readonly object[] => [
  ...[
    'max_completion_tokens',
    'max_tokens',
    'max_output_tokens',
    'max_tokens_to_sample',
    'num_predict',
    'maxTokens',
    'maxOutputTokens',
    'max_new_tokens',
    'maxTokenCount',
    'max_gen_len',
  ].map((name) => ({ [name]: most })),
  { generationConfig: { maxOutputTokens: most } },
  { generation_config: { max_output_tokens: most } },
  { inferenceConfig: { maxTokens: most } },
  { textGenerationConfig: { maxTokenCount: most } },
  { options: { num_predict: most } },
  { parameters: { max_tokens: most } },
  { additionalModelRequestFields: { max_tokens: most } },
  { provider_options: { anthropic: { max_tokens: most } } },
  { provider_options: { google: { generationConfig: { maxOutputTokens: most } } } },
]

const merged = (one: object, other: object): object => {
  const both: Record<string, unknown> = { ...other }
  for (const [name, value] of Object.entries(one)) both[name] = typeof value === 'object' ? { ...Object(both[name]), ...value } : value
  return both
}

for (const [name, json] of read)
  test(`${name}: ${JSON.stringify(json(9000))} bounds an answer, and no smaller figure of another format makes it less`, (t) => {
    const reader = readers[name]
    t.is(outputTokens(json(9000), reader, { unbounded: 50_000 }), 9000)
    t.true(isBounded(json(9000), reader))
    for (const beside of everywhere(1)) {
      const both = merged(json(9000), beside)
      t.true(outputTokens(both, reader, { unbounded: 50_000 }) >= 9000, JSON.stringify(both))
    }
    for (const beside of everywhere(20_000)) {
      const both = merged(beside, json(1))
      t.true(outputTokens(both, reader, { unbounded: 1024 }) >= 1024, JSON.stringify(both))
    }
  })

for (const [name, reader] of Object.entries(readers))
  test(`${name}: a field that is surely not read bounds no answer, and is the least that is reserved where it is more`, (t) => {
    const known = new Set(read.flatMap(([of, json]) => (of === name ? [JSON.stringify(json(1))] : [])))
    for (const [at, json] of everywhere(1).entries()) {
      if (known.has(JSON.stringify(json)) || outputTokens(json, reader, { unbounded: 1024 }) === 1) continue
      t.is(outputTokens(json, reader, { unbounded: 1024 }), 1024, JSON.stringify(json))
      t.is(outputTokens(everywhere(9000)[at], reader, { unbounded: 1024 }), 9000)
    }
    t.is(outputTokens({ num_predict: 1 }, reader, { unbounded: 1024 }), 1024)
    t.false(isBounded({ num_predict: 1 }, reader))
  })

test('a bound of another path than the one that is read bounds nothing', (t) => {
  for (const [name, json] of [
    ['together, by its own path', { max_completion_tokens: 1 }],
    ['anyscale', { max_completion_tokens: 1 }],
    ['completions', { max_completion_tokens: 1 }],
    ['responses', { max_tokens: 1 }],
    ['google', { max_tokens: 1 }],
    ['bedrock', { max_tokens: 1 }],
    ['a path that no format is known of', { max_tokens: 1 }],
    ['anthropic', { max_tokens: 1, provider_options: { anthropic: { max_tokens: null } } }],
    ['google', { generationConfig: { maxOutputTokens: 1 }, provider_options: { google: { generationConfig: { topK: 3 } } } }],
  ] as const)
    t.is(outputTokens(json, readers[name], { unbounded: 1024 }), 1024, `${name} ${JSON.stringify(json)}`)
})

test('answers are as many as the largest figure, in the words of every format', (t) => {
  for (const json of [
    { n: 3 },
    { best_of: 3 },
    { generationConfig: { candidateCount: 3 } },
    { generation_config: { candidate_count: 3 } },
    { provider_options: { openai: { n: 3 } } },
  ])
    t.is(outputTokens({ max_tokens: 10, ...json }, readers.openai, { unbounded: 10 }), 30, JSON.stringify(json))
})

/** The tokens of its answer that a request is expected to use. */
function answered(task: 'conversation' | 'embedding' | 'moderation' | 'rerank' | null, fields: object): number {
  const json = { input: 'hi', ...fields }
  const body = { kind: 'json', bytes: Buffer.from(JSON.stringify(json)), json, stream: null, length: null } as const
  return estimateTokens({ body, task, reader: readers.responses }, 1024) - inputBound(body).tokens
}

test('a request says what its operation says, whatever fields it has: only embeddings and the like have input alone', (t) => {
  for (const fields of [{}, { stream: false }, { instructions: 'be kind' }, { stream: 'yes' }]) {
    t.is(answered('conversation', fields), 1024)
    t.is(answered(null, fields), 1024)
    for (const task of ['embedding', 'moderation', 'rerank'] as const) t.is(answered(task, { ...fields, max_output_tokens: 50 }), 0)
  }
  t.is(answered('conversation', { max_output_tokens: 50 }), 50)
})

const said = (content: unknown) => ({ messages: [{ role: 'user', content }] })
/** The parts of a prompt outside its body: a file may fill the window, any other part only where a limit is strict. */
type Unseen = 'nothing' | 'part' | 'file'
const inputOf = (json: object) => {
  const bytes = Buffer.from(JSON.stringify(json))
  const body = { kind: 'json', bytes, json, stream: null, length: null } as const
  const unseen: Unseen = inputBound(body).isOpen ? 'file' : strictInputBound(body, null).isOpen ? 'part' : 'nothing'
  return { tokens: inputBound(body).tokens, unseen, bytes: bytes.length }
}

/** Texts of three thousand bytes and more, by the bytes of a token. */
const texts: Readonly<Record<string, readonly [text: string, perToken: number]>> = {
  prose: ['The quick brown fox jumps over the lazy dog. '.repeat(80), 3],
  'prose with accents': ['Größere Übel für schöne Mädchen, déjà vu à côté. '.repeat(80), 3],
  digits: ['3141592653589793 '.repeat(200), 2],
  'JSON in a text': [JSON.stringify(Array.from({ length: 100 }, (_, at) => ({ id: at, ok: true }))), 2],
  Chinese: ['敏捷的棕色狐狸跳过懒狗'.repeat(100), 2],
  hex: ['0123456789abcdef'.repeat(200), 2],
  emoji: ['😀'.repeat(1000), 2],
}
for (const [name, [text, perToken]] of Object.entries(texts))
  test(`a token has ${perToken} bytes of a body that is mostly ${name}`, (t) => {
    const { tokens, bytes } = inputOf(said(text))
    t.is(tokens, Math.ceil(bytes / perToken))
  })

const base64 = 'A'.repeat(80_000)
const edited = (pictures: object) => ({ model: 'm', prompt: 'a hat', ...pictures })
const called = (part: object) => ({ contents: [{ role: 'user', parts: [part] }] })
const named = { file_id: 'f', fileId: 'f', file_uri: 'gs://a', fileUri: 'gs://a', image_url: 'https://a/b' }
/** Parts of a prompt: their counts beside the text, the characters that are no text, and the parts outside the body. */
const parts: Readonly<Record<string, readonly [json: object, tokens: number, characters: number, unseen?: Unseen]>> = {
  'a picture of OpenAI': [said([{ type: 'image_url', image_url: { url: base64 } }]), 1600, 80_000],
  'a picture by its address': [said([{ type: 'image_url', image_url: { url: 'https://a/b' } }]), 1600, 11, 'part'],
  'two pictures of responses, one of them a file': [
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: base64 },
            { type: 'input_image', file_id: 'f' },
          ],
        },
      ],
    },
    3200,
    80_001,
    'part',
  ],
  'a picture of Anthropic': [said([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }]), 1600, 80_000],
  'a picture of Google': [{ contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] }] }, 1600, 80_000],
  'a picture of Bedrock': [said([{ image: { format: 'png', source: { bytes: base64 } } }]), 1600, 80_000],
  // 80,000 characters are 60,000 bytes: 30 seconds at 16 kbit/s, of 32 tokens each
  sound: [said([{ type: 'input_audio', input_audio: { data: base64, format: 'mp3' } }]), 960, 80_000],
  'a file by its id': [said([{ type: 'file', file: { file_id: 'f' } }]), 0, 0, 'file'],
  'a document of Anthropic by its id': [said([{ type: 'document', source: { type: 'file', file_id: 'f' } }]), 0, 0, 'file'],
  'a film of Google by its address': [
    { contents: [{ parts: [{ fileData: { mimeType: 'video/mp4', fileUri: 'gs://a' } }] }] },
    0,
    0,
    'file',
  ],
  'an earlier response': [{ input: 'a', previous_response_id: 'r' }, 0, 0, 'part'],
  'a conversation': [{ input: 'a', conversation: { id: 'c' } }, 0, 0, 'part'],
  'no earlier response': [{ input: 'a', previous_response_id: null }, 0, 0],
  'a word that is no picture': [said('an "image_url" is not sent'), 0, 0],
  'a picture of Anthropic by its id': [said([{ type: 'image', source: { type: 'file', file_id: 'f' } }]), 1600, 4, 'part'],
  'a picture to edit': [edited({ image: base64 }), 1600, 80_000],
  'pictures to edit, and a mask': [
    edited({ images: [{ image_url: `data:image/png;base64,${base64}` }, { file_id: 'f' }], mask: base64 }),
    4800,
    160_023,
    'part',
  ],
  'pictures to go by': [edited({ reference_images: [base64, 'https://a/b'] }), 3200, 80_011, 'part'],
  'no picture to edit': [edited({ image: null, images: [] }), 0, 0],
  'a file of responses by its address': [{ input: [{ content: [{ type: 'input_file', file_url: 'https://a/b' }] }] }, 0, 0, 'file'],
  'a document of Mistral by its address': [said([{ type: 'document_url', document_url: 'https://a/b' }]), 0, 0, 'file'],
  'a document of Mistral in the body': [said([{ type: 'document_url', document_url: 'data:application/pdf;base64,AAAA' }]), 0, 0, 'part'],
  'a document of Anthropic by its address': [said([{ type: 'document', source: { type: 'url', url: 'https://a/b' } }]), 0, 0, 'file'],
  'a document of Anthropic in the body': [said([{ type: 'document', source: { type: 'text', data: 'https://a/b' } }]), 0, 0],
  'sound by its address': [said([{ type: 'input_audio', input_audio: { data: 'https://a/b' } }]), 1, 11, 'file'],
  'arguments of a tool of Anthropic': [said([{ type: 'tool_use', id: 't', name: 'n', input: named }]), 0, 0],
  'arguments of a tool that Anthropic runs': [said([{ type: 'server_tool_use', id: 't', name: 'n', input: named }]), 0, 0],
  'arguments of a function of Google': [called({ functionCall: { name: 'n', args: named } }), 0, 0],
  'a result of a function of Google': [called({ functionResponse: { name: 'n', response: named } }), 0, 0],
  'a picture in a result of a function of Google': [
    called({ functionResponse: { name: 'n', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] } }),
    1600,
    80_000,
  ],
  'arguments of a tool of Bedrock': [said([{ toolUse: { toolUseId: 't', name: 'n', input: named } }]), 0, 0],
  'a result of a tool of Bedrock': [said([{ toolResult: { toolUseId: 't', content: [{ json: named }] } }]), 0, 0],
  'a picture in a result of a tool of Bedrock': [
    said([{ toolResult: { toolUseId: 't', content: [{ image: { format: 'png', source: { bytes: base64 } } }] } }]),
    1600,
    80_000,
  ],
  'files that an earlier answer cites': [
    said([{ type: 'output_text', text: 'a', annotations: [{ type: 'file_citation', file_id: 'f' }] }]),
    0,
    0,
  ],
}
for (const [name, [json, tokens, characters, unseen = 'nothing']] of Object.entries(parts))
  test(`the parts of a prompt: ${name}`, (t) => {
    const found = inputOf(json)
    const text = found.bytes - characters
    const least = Math.ceil(text / 3) + tokens
    t.true(found.tokens === least || found.tokens === Math.ceil(text / 2) + tokens, `${found.tokens}, not ${least}`)
    t.is(found.unseen, unseen)
  })
