import test from 'ava'
import { outputTokens } from '../../../../src/gateway/limits/estimate.ts'

test('the most tokens of all answers together: of each prompt, and of each choice of it', (t) => {
  t.is(outputTokens({ prompt: 'a', max_tokens: 10 }, 1), 10)
  t.is(outputTokens({ prompt: ['a', 'b', 'c'], max_tokens: 10 }, 1), 30)
  t.is(outputTokens({ prompt: ['a', 'b'], n: 2, max_tokens: 10 }, 1), 40)
  t.is(outputTokens({ prompt: [[1, 2], [3]], max_tokens: 10 }, 1), 20)
  t.is(outputTokens({ prompt: [1, 2, 3], max_tokens: 10 }, 1), 10)
  t.is(outputTokens({ prompt: [] }, 16), 16)
})
