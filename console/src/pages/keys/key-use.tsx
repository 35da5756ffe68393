import { Tabs } from '@mantine/core'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { useMe } from '../../shell/session.tsx'
import type { Key } from './columns.tsx'

/** The variable in which an application has the key; the console does not know the key itself. */
const variable = 'GATEHOUSE_KEY'
const model = '@openai-prod/gpt-4o-mini'
const callRight = 'completions.write'

interface Client {
  readonly id: string
  readonly name: string
  /** Returns a first request. */
  readonly textOf: (base: string) => string
}

const clients: readonly Client[] = [
  {
    id: 'curl',
    name: 'curl',
    textOf: (base) => `curl ${base}/v1/chat/completions \\
  -H "authorization: Bearer $${variable}" \\
  -H "content-type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello' }] })}'`,
  },
  {
    id: 'openai-python',
    name: 'OpenAI, Python',
    textOf: (base) => `import os
from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key=os.environ["${variable}"])
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Say hello"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    id: 'openai-javascript',
    name: 'OpenAI, JavaScript',
    textOf: (base) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: process.env.${variable} })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Say hello' }],
})
console.log(answer.choices[0].message.content)`,
  },
  {
    id: 'anthropic-python',
    name: 'Anthropic, Python',
    textOf: (base) => `import os
from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key=os.environ["${variable}"])
answer = client.messages.create(
    model="${model}",
    max_tokens=100,
    messages=[{"role": "user", "content": "Say hello"}],
)
print(answer.content[0].text)`,
  },
  {
    id: 'anthropic-javascript',
    name: 'Anthropic, JavaScript',
    textOf: (base) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${base}', apiKey: process.env.${variable} })
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Say hello' }],
})
console.log(answer.content[0].text)`,
  },
]

/** How an application calls models with a key: the address, and a first request for the usual clients. */
export function KeyUse({ apiKey }: { readonly apiKey: Key }) {
  const { public_url: base } = useMe().installation
  return (
    <>
      {!apiKey.scopes.includes(callRight) && <p className="chip warn fault">This key may not call models: it lacks {callRight}.</p>}
      <Facts facts={['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL'].map((name) => [name, <Base key={name} name={name} base={base} />])} />
      <p className="hint">
        Put the key into the variable {variable}: it was shown once, when it was made. Put a model of yours in the place of {model}.
      </p>
      <Tabs defaultValue={clients[0]?.id ?? ''} keepMounted={false}>
        <Tabs.List aria-label="Client">
          {clients.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {clients.map(({ id, name, textOf }) => (
          <Tabs.Panel key={id} value={id} className="panel">
            <pre className="text" tabIndex={0} aria-label={`A request by ${name}`}>
              {textOf(base)}
            </pre>
            <div>
              <Copy text={textOf(base)} label="Copy the request" word="Copy the request" />
            </div>
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  )
}

/** The client of OpenAI counts the version to the address, that of Anthropic does not. */
function Base({ name, base }: { readonly name: string; readonly base: string }) {
  const text = name.startsWith('OPENAI') ? `${base}/v1` : base
  return (
    <>
      <code>{text}</code> <Copy text={text} label={`Copy ${name}`} />
    </>
  )
}
