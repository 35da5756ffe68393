import test from 'ava'
import { namesOf } from '../../../../src/gateway/prices/names.ts'

const cases: readonly (readonly [provider: string, asked: string, names: readonly string[]])[] = [
  ['openai', 'gpt-4o-2024-08-06', ['openai:gpt-4o-2024-08-06', 'openai:gpt-4o~']],
  ['openai', 'ft:gpt-4o-mini-2024-07-18:acme:bot:9Xy', ['openai:ft:gpt-4o-mini-2024-07-18', 'openai:ft:gpt-4o-mini~']],
  ['openai', 'openai/gpt-4o', ['openai:openai/gpt-4o', 'openai:gpt-4o']],
  ['groq', 'openai/gpt-oss-120b', ['groq:openai/gpt-oss-120b']],
  ['anthropic', 'claude-sonnet-4-5-20250929', ['anthropic:claude-sonnet-4-5-20250929', 'anthropic:claude-sonnet-4-5~']],
  [
    'azure-openai',
    'gpt-35-turbo',
    ['azure-openai:gpt-35-turbo', 'azure-openai:gpt-3.5-turbo', 'openai:gpt-35-turbo', 'openai:gpt-3.5-turbo'],
  ],
  ['azure-openai', 'gpt-4o.ft-0a1b', ['azure-openai:gpt-4o', 'openai:gpt-4o']],
  ['bedrock', 'us.amazon.nova-lite-v1:0', ['bedrock:amazon.nova-lite-v1:0@us', 'bedrock:amazon.nova-lite~@us']],
  ['bedrock', 'arn:aws:bedrock:eu-west-1::foundation-model/amazon.titan', ['bedrock:amazon.titan@in-region/eu-west-1']],
  ['bedrock', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', []],
  ['bedrock', 'arn:aws:bedrock:us-east-1:1:imported-model/abc', []],
  [
    'vertex-ai',
    'publishers/google/models/gemini-2.5-pro',
    ['vertex-ai:gemini-2.5-pro', 'google:gemini-2.5-pro', 'anthropic:gemini-2.5-pro'],
  ],
  ['vertex-ai', '1234567890', []],
  ['google', 'tunedModels/mine', []],
  ['google', 'models/gemini-2.5-flash', ['google:gemini-2.5-flash']],
  ['fireworks-ai', 'accounts/fireworks/models/llama-v3', ['fireworks-ai:llama-v3']],
  ['fireworks-ai', 'accounts/acme/models/llama-v3', []],
  ['openrouter', 'deepseek/deepseek-r1:free', ['openrouter:deepseek/deepseek-r1:free']],
  ['openrouter', 'deepseek/deepseek-r1:nitro', ['openrouter:deepseek/deepseek-r1']],
  ['workers-ai', '@cf/meta/llama', ['workers-ai:@cf/meta/llama']],
]

for (const [provider, asked, names] of cases) {
  test(`the names in price lists of ${provider}'s ${asked}`, (t) => {
    const found = namesOf(provider, asked).map(
      ({ provider: list, model, family, geo, region }) =>
        `${list}:${model}${family ? '~' : ''}${geo === null ? '' : `@${geo}`}${region === null ? '' : `/${region}`}`,
    )
    t.deepEqual(found, names)
  })
}
