import test from 'ava'
import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'
import { type CaseId, cases } from './cases.ts'
import { cellOf, expectedOf } from './expected.ts'
import { listen } from './listen.ts'
import { providers } from './sides/index.ts'
import type { ClientId, ProviderId } from './talk.ts'

/** Each emulator is proven by the provider's own client: it takes that client's requests, understands them, and the client understands it. */
let emulator: Emulator

/** The providers whose own client is one of those whose format Gatehouse takes. */
const owns: Readonly<Record<string, ClientId>> = {
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai-responses',
  anthropic: 'anthropic',
  google: 'google',
  vertex: 'google',
  'azure-openai': 'openai-chat',
  'azure-openai-v1': 'openai-chat',
  huggingface: 'openai-chat',
  'mistral-fim': 'completions',
  completions: 'completions',
  'claude-bedrock': 'anthropic',
  'claude-vertex': 'anthropic',
  'claude-azure': 'anthropic',
}

/** Cases that a provider's own client cannot express, and another client can. */
const unsaid: Readonly<Partial<Record<CaseId, ReadonlySet<string>>>> = { files: new Set(['azure-ai']), audio: new Set(['azure-ai']) }

test.before(async () => {
  emulator = await startEmulator()
})
test.after.always(() => emulator?.stop())
test.beforeEach(() => emulator.reset())

for (const [id, { side, model, thinker = model, talker }] of Object.entries(providers))
  for (const name of Object.keys(cases)) {
    const { fixtures, word } = cellOf({ client: null, provider: id as ProviderId, name: name as CaseId })
    if (word === 'refused' || unsaid[name as CaseId]?.has(id) === true) continue
    for (const fixture of fixtures)
      test.serial(`${id}, ${name}: ${fixture.title}`, async (t) => {
        const { stream, ask, says, results } = fixture
        const heard = listen(emulator, side, says)
        const address = { origin: emulator.origin, key: 'sk-upstream', headers: {}, model: ask.thinks === true ? thinker : model }
        const first = await talker(address).talk(ask, stream)
        const calls = first.calls.map(({ id: call, name: tool }) => ({ result: { id: call, name: tool, text: results?.[tool] ?? '' } }))
        const last = results === undefined ? first : await first.answer(calls)
        const expected = expectedOf({ client: owns[id] ?? null, provider: id as ProviderId, name: name as CaseId }, fixture)
        t.deepEqual(
          { heard, said: results === undefined ? [first.said] : [first.said, last.said] },
          { heard: expected.heard, said: expected.said },
        )
      })
  }
