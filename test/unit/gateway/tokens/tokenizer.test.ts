import test from 'ava'
import { estimateAnswer, type EstimatedRequest, estimateInput as estimateSized } from '../../../../src/gateway/tokens/estimate-tokens.ts'
import { countedLength, countTokens, countTokensOf } from '../../../../src/gateway/tokens/tokenizer.ts'

const estimateInput = (request: Omit<EstimatedRequest, 'size'>): number => estimateSized({ ...request, size: 0 })

test('texts are counted as the models of OpenAI do', (t) => {
  t.is(countTokens(''), 0)
  t.is(countTokens('hello world'), 2)
  t.is(countTokens('The quick brown fox jumps over the lazy dog.'), 10)
})

test('names of special tokens in a text are words', (t) => t.true(countTokens('<|endoftext|>') > 1))

/** Without bounds each of these would cost the square of its length: seconds for 100,000 characters. */
for (const hostile of ['a', '的', ' ', '!?', '👩‍👩‍👧', 'xq7'])
  test(`a word without an end is counted in pieces, and a long text by samples of it: ${hostile}`, (t) => {
    const counted = hostile.repeat(Math.floor(countedLength / hostile.length))
    const one = countTokens(counted)
    t.true(one > 0)
    const times = 20
    const whole = countTokens(counted.repeat(times))
    t.true(whole >= one * (times - 1) && whole <= one * (times + 1), `${one} and ${whole}`)
  })

const amharic = 'ሰላም ለዓለም እንዴት ነህ ዛሬ '
const prose = 'The quick brown fox jumps over the lazy dog. '
const filled = (part: string, length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length)
/** Long texts whose parts are unlike: by the contents of each, and their length. */
const mixed: Readonly<Record<string, readonly (readonly [part: string, length: number])[]>> = {
  'spaces, then letters of many tokens': [
    [' ', 66_000],
    [amharic, 200_000],
  ],
  'letters of many tokens, then spaces': [
    [amharic, 200_000],
    [' ', 66_000],
  ],
  'prose, then letters of many tokens': [
    [prose, 400_000],
    [amharic, 200_000],
  ],
  'spaces around a part in the middle': [
    [' ', 300_000],
    [amharic, 300_000],
    [' ', 300_000],
  ],
  'parts that alternate as samples would, if they lay at fixed places': Array.from({ length: 512 }, (_, at) =>
    at % 2 === 0 ? ([' ', 512] as const) : ([amharic, 512] as const),
  ),
  'short parts in turn': Array.from({ length: 4000 }, (_, at) => (at % 2 === 0 ? ([' ', 100] as const) : ([amharic, 100] as const))),
}
/** Each count lies about the true one, since samples lie anywhere: the mean of several is near it for certain. */
function meanOf(count: () => number): number {
  const counts = Array.from({ length: 9 }, count)
  return counts.reduce((sum, one) => sum + one, 0) / counts.length
}

for (const [name, parts] of Object.entries(mixed))
  test(`a long text is counted by all of its parts: ${name}`, (t) => {
    const text = parts.map(([part, length]) => filled(part, length)).join('')
    let whole = 0
    for (let at = 0; at < text.length; at += 50_000) whole += countTokens(text.slice(at, at + 50_000))
    const share = meanOf(() => countTokens(text)) / whole
    t.true(share > 0.8 && share < 1.25, String(share))
  })

for (const each of [7, 60, 4000, 60_000])
  test(`many texts of ${each} characters are counted by samples of all of them, as one long text is`, (t) => {
    const texts = Array.from({ length: Math.ceil(400_000 / each) }, (_, at) => filled(at % 3 === 0 ? amharic : prose, each))
    const whole = texts.reduce((sum, text) => sum + countTokens(text), 0)
    const share = meanOf(() => countTokensOf(texts)) / whole
    t.true(share > 0.8 && share < 1.25, String(share))
  })

test('a prompt has the tokens of its texts, three for each message and three for the answer, in any dialect', (t) => {
  const messages = [{ role: 'user', content: 'hello world' }]
  t.is(estimateInput({ json: { model: 'gpt-4o', messages }, dialect: 'openai-chat', model: 'gpt-4o' }), 8)
  t.is(estimateInput({ json: { contents: [{ parts: [{ text: 'hello world' }] }] }, dialect: 'google', model: 'gemini-2.5-pro' }), 8)
  t.is(estimateInput({ json: { input: 'hello world' }, dialect: 'openai-responses', model: 'gpt-4o' }), 2)
  t.is(estimateInput({ json: 'hello', dialect: 'openai-chat', model: null }), 0)
})

const tokensIn = (json: object) => estimateInput({ json, dialect: 'completions', model: 'gpt-4o' })

test('prompts of tokens as numbers have as many', (t) => {
  t.is(tokensIn({ prompt: [1, 2, 3] }), 3)
  t.is(tokensIn({ prompt: [[1, 2, 3], [4]] }), 4)
  t.is(tokensIn({ input: [...Array.from({ length: 2000 }).keys()] }), 2000)
})

test('Claude counts more tokens than the vocabulary of OpenAI has: 115 for 100, rounded up', (t) => {
  const messages = [{ role: 'user', content: 'hello world' }]
  t.is(estimateInput({ json: { messages }, dialect: 'anthropic', model: 'anthropic.claude-sonnet-4-5-v1:0' }), 10)
})

test('media of messages count by the piece', (t) => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hello world' }, image] }]
  t.is(estimateInput({ json: { messages }, dialect: 'openai-chat', model: 'gpt-4o' }), 8 + 1500)
})

const answer = (message: object) => estimateAnswer({ json: { choices: [{ message }] }, size: 0, dialect: 'openai-chat', model: 'gpt-4o' })

test('an answer has the tokens of what the model said, and of the arguments of its tools', (t) => {
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{"city":"Oslo"}' } }
  t.is(answer({ role: 'assistant', content: 'hello world' }), 2)
  t.true(answer({ role: 'assistant', content: null, tool_calls: [call] }) >= countTokens('{"city":"Oslo"}'))
})
