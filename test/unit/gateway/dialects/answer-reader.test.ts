import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { Usage } from '../../../../src/gateway/ports.ts'
import { compress, decompress } from '../../../../src/gateway/wire/encoding.ts'
import { AnswerReader } from '../../../../src/gateway/dialects/answer-reader.ts'
import { usageFigures } from '../../../../src/gateway/dialects/usage-figures.ts'

const none = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
}

/** Reads the usage of an answer whose bytes come in pieces. */
function readUsage(bytes: Buffer, piece = bytes.length): Usage | null {
  const reader = new AnswerReader(null, bytes.toString('latin1').trimStart().startsWith('{') ? 'application/json' : 'text/event-stream')
  for (let at = 0; at < bytes.length; at += piece) reader.add(bytes.subarray(at, at + piece))
  const { usage } = reader.told()
  return usage === null ? null : usageFigures(usage)
}

const reads = test.macro({
  exec(t, body: string, expected: Partial<Usage> | null) {
    const bytes = Buffer.from(body)
    const wanted = expected === null ? null : { ...none, ...expected }
    for (const piece of [bytes.length, 7, 3, 1]) t.deepEqual(readUsage(bytes, piece), wanted, `in pieces of ${piece}`)
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd'])
      t.deepEqual(readUsage(decompress(compress(bytes, encoding), encoding)), wanted)
  },
  title: (name = '') => `usage: ${name}`,
})

test(
  'OpenAI chat',
  reads,
  '{"id":"x","usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"prompt_tokens_details":{"cached_tokens":4}}}',
  {
    inputTokens: 9,
    outputTokens: 12,
    totalTokens: 21,
    cacheReadTokens: 4,
  },
)
test(
  'OpenAI stream with usage:null before',
  reads,
  'data: {"choices":[],"usage":null}\n\ndata: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\ndata: [DONE]\n\n',
  {
    inputTokens: 1,
    outputTokens: 2,
    totalTokens: 3,
  },
)
test(
  'responses',
  reads,
  '{"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":1},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":12}}',
  {
    inputTokens: 5,
    outputTokens: 7,
    totalTokens: 12,
    cacheReadTokens: 1,
    reasoningTokens: 3,
  },
)
test(
  'Anthropic stream: input from the start, output from the end',
  reads,
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":25,"cache_read_input_tokens":3,"output_tokens":1}}}\n\nevent: message_delta\ndata: {"usage":{"output_tokens":15}}\n\n',
  { inputTokens: 25, outputTokens: 15, totalTokens: 40, cacheReadTokens: 3 },
)
test('Google', reads, '{"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":6,"totalTokenCount":10}}', {
  inputTokens: 4,
  outputTokens: 6,
  totalTokens: 10,
})
test('embeddings', reads, '{"usage":{"prompt_tokens":8,"total_tokens":8}}', { inputTokens: 8, totalTokens: 8 })
test('no usage', reads, '{"choices":[]}', null)
test('the word in a text is not usage', reads, JSON.stringify({ content: '{"usage":{"prompt_tokens":1}}' }), null)
test('negative and absurd counts are refused', reads, '{"usage":{"prompt_tokens":-4,"completion_tokens":1e99}}', {})
test('an object that never closes', reads, '{"usage":{"prompt_tokens":4', null)

test('a body that unfolds without end is not unfolded', (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  t.is(decompress(bomb, 'gzip').length, 0)
})

test(
  'a parameter called usage does not hide the real one',
  reads,
  '{"tools":[{"parameters":{"usage":{"description":"a } brace"}}}],"usage":{"input_tokens":3,"output_tokens":4}}',
  { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
)

test('an answer full of objects that never close costs little', (t) => {
  const hostile = Buffer.from('"usage":{'.repeat(120_000))
  const started = performance.now()
  t.is(readUsage(hostile), null)
  t.true(performance.now() - started < 500)
})
