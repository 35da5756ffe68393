import test from 'ava'
import { estimateAnswer, estimateInput } from '../../../../src/gateway/tokens/estimate-tokens.ts'
import { countedLength, countTokens } from '../../../../src/gateway/tokens/tokenizer.ts'

test('texts are counted as the models of OpenAI do', (t) => {
  t.is(countTokens(''), 0)
  t.is(countTokens('hello world'), 2)
  t.is(countTokens('The quick brown fox jumps over the lazy dog.'), 10)
})

test('names of special tokens in a text are words', (t) => t.true(countTokens('<|endoftext|>') > 1))

/** Without bounds each of these would cost the square of its length: seconds for 100,000 characters. */
for (const hostile of ['a', '的', ' ', '!?', '👩‍👩‍👧', 'xq7'])
  test(`a word without an end is counted in pieces, and a long text by its beginning: ${hostile}`, (t) => {
    const counted = hostile.repeat(Math.floor(countedLength / hostile.length))
    const one = countTokens(counted)
    t.true(one > 0)
    const times = 20
    const whole = countTokens(counted.repeat(times))
    t.true(whole >= one * (times - 1) && whole <= one * (times + 1), `${one} and ${whole}`)
  })

test('a prompt has the tokens of its texts, three for each message and three for the answer, in any dialect', (t) => {
  const messages = [{ role: 'user', content: 'hello world' }]
  t.is(estimateInput({ json: { model: 'gpt-4o', messages }, dialect: 'openai-chat', model: 'gpt-4o' }), 8)
  t.is(estimateInput({ json: { contents: [{ parts: [{ text: 'hello world' }] }] }, dialect: 'google', model: 'gemini-2.5-pro' }), 8)
  t.is(estimateInput({ json: { input: 'hello world' }, dialect: 'openai-responses', model: 'gpt-4o' }), 2)
  t.is(estimateInput({ json: 'hello', dialect: 'openai-chat', model: null }), 0)
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

const answer = (message: object) => estimateAnswer({ choices: [{ message }] }, 'openai-chat', 'gpt-4o')

test('an answer has the tokens of what the model said, and of the arguments of its tools', (t) => {
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{"city":"Oslo"}' } }
  t.is(answer({ role: 'assistant', content: 'hello world' }), 2)
  t.true(answer({ role: 'assistant', content: null, tool_calls: [call] }) >= countTokens('{"city":"Oslo"}'))
})
