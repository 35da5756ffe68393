import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { HookResults } from '../../../src/gateway/checks/hook-results.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RawAnswer, send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed
let small: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  const providers = { p: { customHost: emulator.url }, claude: { provider: 'anthropic', customHost: emulator.url } }
  ;[bed, small] = await Promise.all([startGateway({ providers }), startGateway({ providers, settings: { maxJsonBytes: 4000 } })])
})
test.after.always(async () => {
  await Promise.all([bed?.stop(), small?.stop()])
  await emulator?.stop()
})
test.beforeEach(() => emulator.reset())

type Guardrail = Readonly<Record<string, unknown>>
const deny = (id: string, parameters: Guardrail): Guardrail => ({ [id]: parameters, deny: true, message: 'Stopped.' })
const forbid = (rule: string): Guardrail => deny('default.regexMatch', { rule, not: true })
const without = (word: string): Guardrail => deny('default.contains', { words: [word], operator: 'none' })

interface Asked {
  readonly output?: readonly Guardrail[]
  readonly input?: readonly Guardrail[]
  readonly path?: string
  readonly more?: Guardrail
  readonly body?: Guardrail
  readonly at?: GatewayBed
}

const optionsOf = ({ output = [], input = [], path = '/v1/chat/completions', more = {}, body = {}, at = bed }: Asked) => ({
  url: `${at.origin}${path}`,
  headers: {
    'x-service-api-key': workspaceKey,
    'content-type': 'application/json',
    'x-service-config': JSON.stringify({
      provider: path.startsWith('/v1/messages') ? '@claude' : '@p',
      ...more,
      ...(output.length > 0 && { output_guardrails: output }),
      ...(input.length > 0 && { input_guardrails: input }),
    }),
  },
  body: JSON.stringify({ model: 'm', stream: true, messages: [], ...(path.startsWith('/v1/messages') && { max_tokens: 5 }), ...body }),
})

const ask = (asked: Asked): Promise<RawAnswer> => {
  const { url, headers, body } = optionsOf(asked)
  return send(url, { method: 'POST', headers, body })
}

/** Scripts the provider to send these words, one frame each. */
function says(words: readonly string[], everyMs?: number): string {
  const frames = words.map((content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`)
  const body = `${frames.join('')}data: [DONE]\n\n`
  const bytes = everyMs === 0 ? 2000 : (frames[0]?.length ?? 1)
  emulator.script({
    behaviour: {
      body,
      headers: { 'content-type': 'text/event-stream' },
      chunked: true,
      ...(everyMs !== undefined && { drip: { bytes, everyMs } }),
    },
  })
  return body
}

const contentOf = (text: string): string =>
  [...text.matchAll(/^data: (\{.*)$/gm)]
    .map(([, json = '{}']) => (JSON.parse(json) as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ?? '')
    .join('')

const filler = (count: number) => Array.from({ length: count }, (_, at) => `word${at} `)

test.serial('a short stream that is denied is an answer with 446, and nothing of it is seen', async (t) => {
  const answer = await ask({ output: [forbid('emulator')] })
  t.is(answer.status, 446)
  t.is(answer.headers['content-type'], 'application/json; charset=utf-8')
  const body = JSON.parse(answer.text) as { error: object; hook_results: HookResults }
  t.like(body.error, { message: 'Stopped.', type: 'hooks_failed' })
  t.false(body.hook_results.after_request_hooks[0]?.verdict)
  t.like(bed.logged.at(-1)?.record, { status: 446, outcome: 'error', errorCode: 'hooks_failed' })
})

test.serial('a long stream goes on until the guardrail stops it, and what is denied is never seen', async (t) => {
  says([...filler(800), 'the ', 'sec', 'ret ', 'word ', ...filler(400)], 0)
  for (const guardrail of [forbid('secret'), without('secret')]) {
    const answer = await ask({ output: [guardrail] })
    t.is(answer.status, 200)
    const seen = contentOf(answer.text)
    t.true(seen.length > 3000, `${seen.length}`)
    t.false(/sec/.test(seen))
    const [last] = answer.text.trimEnd().split('\n\n').slice(-1)
    const event = JSON.parse(last?.replace('data: ', '') ?? '') as { error: object; hook_results: HookResults }
    t.like(event.error, { message: 'Stopped.', code: 'hooks_failed' })
    t.false(event.hook_results.after_request_hooks[0]?.verdict)
    t.false(answer.text.includes('[DONE]'))
    t.like(bed.logged.at(-1)?.record, { status: 200, outcome: 'error', errorCode: 'hooks_failed', stream: true })
  }
})

test.serial('a stream that passes is the provider’s, byte for byte', async (t) => {
  const body = says([...filler(500), 'é', '😀'])
  for (const guardrail of [
    forbid('secret'),
    without('secret'),
    deny('default.wordCount', { maxWords: 1000 }),
    deny('default.contains', { words: ['word7'] }),
  ]) {
    const answer = await ask({ output: [guardrail] })
    t.is(answer.status, 200)
    t.is(answer.text, body)
  }
})

test.serial('line ends that only Unicode has end no line of a stream, and hide nothing', async (t) => {
  for (const end of ['\u2028', '\u2029', '\u0085']) {
    says([`Well,${end}the secret`])
    t.is((await ask({ output: [forbid('secret')] })).status, 446)
  }
})

test.serial('what is said goes on while the rest is still being said', async (t) => {
  says(filler(200), 5)
  const { url, headers, body } = optionsOf({ output: [without('secret')] })
  const seenBeforeEnd = await new Promise<number>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (response) => {
      response.once('data', () => {
        const at = emulator.requests.at(-1)?.sent ?? 0
        response.on('data', () => {})
        response.on('end', () => resolve((emulator.requests.at(-1)?.sent ?? 0) - at))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
  t.true(seenBeforeEnd > 3000, `${seenBeforeEnd} bytes came after the first was seen`)
})

/** Scripts the provider to send these frames. */
function sends(frames: readonly object[]): void {
  const body = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')
  emulator.script({
    behaviour: { body, headers: { 'content-type': 'text/event-stream' }, chunked: true, drip: { bytes: 2000, everyMs: 0 } },
  })
}

const choice = (index: number, content: string) => ({ choices: [{ index, delta: { content } }] })
const others = filler(400).map((word) => choice(1, word))

test.serial('of what fails late nothing is seen, however long it is and whatever is said between', async (t) => {
  const key = ['-----BEGIN KEY-----', ...filler(400), '-----END KEY-----', ...filler(400)].map((word) => choice(0, word))
  const cohere = [...filler(300), 'the last ', 'word', ...filler(100)].map((text) => ({
    type: 'content-delta',
    index: 0,
    delta: { message: { content: { text } } },
  }))
  for (const [frames, guardrail, status] of [
    [key, forbid('-----BEGIN KEY-----[\\s\\S]+-----END KEY-----'), 446],
    [[choice(0, 'SECRET-CODE-'), ...others, choice(0, '123'), ...others], without('SECRET-CODE-123'), 446],
    [[...others, choice(0, 'SECRET-CODE-'), ...others, choice(0, '123'), ...others], forbid('SECRET-CODE-\\d+'), 200],
    [cohere, without('last word'), 200],
  ] as const) {
    sends(frames)
    const answer = await ask({ output: [guardrail] })
    t.is(answer.status, status)
    t.regex(answer.text, /Stopped\./)
    const said = answer.text.split('\n\n').filter((frame) => !frame.includes('hook_results'))
    t.notRegex(said.join('\n'), /BEGIN|SECRET|last/)
  }
})

test.serial('a word is not taken for one that is only its beginning', async (t) => {
  const body = says(['the key', 'board is'], 400)
  t.is((await ask({ output: [forbid('\\bkey\\b|board$')] })).text, body)
  says(['the key', ' is the'], 400)
  t.is((await ask({ output: [forbid('\\bkey\\b')] })).status, 446)
})

test.serial('a stream of which nothing can go before more is held than may be is as one that is too large', async (t) => {
  const frames = [choice(0, 'said'), ...Array.from({ length: 300 }, () => choice(1, 'x'))]
  const input = { words: ['x y'], operator: 'none' }
  for (const [guardrail, status] of [
    [{ 'default.contains': input }, 200],
    [deny('default.contains', { ...input, on_error: 'allow' }), 446],
  ] as const) {
    sends(frames)
    t.is((await ask({ output: [guardrail], at: small })).status, status)
  }
})

test.serial('a check that must know all holds the stream: it is whole, or not at all', async (t) => {
  const body = says(filler(300))
  const passed = await ask({ output: [deny('default.contains', { words: ['word299'] })] })
  t.is(passed.text, body)
  const denied = await ask({ output: [deny('default.contains', { words: ['word300'] })] })
  t.is(denied.status, 446)
  t.false(denied.text.includes('word1 '))
})

test.serial('texts in a stream are replaced', async (t) => {
  says(['My ', 'number', ' is 12', '34', '.'])
  const answer = await ask({ output: [{ 'default.regexReplace': { rule: '\\d+' } }] })
  t.is(contentOf(answer.text), 'My number is [REDACTED].')
  t.true(answer.text.endsWith('data: [DONE]\n\n'))
})

test.serial('the streams of the other APIs are read, denied and replaced alike', async (t) => {
  for (const [path, said] of [
    ['/v1/messages', {}],
    ['/v1/responses', { input: 'x' }],
    ['/v1/completions', { prompt: 'x' }],
  ] as const) {
    const plain = await ask({ path, body: said })
    t.true(plain.text.includes('emulator'), path)
    const passed = await ask({ path, body: said, output: [forbid('nothing of this')] })
    t.is(passed.text.replaceAll(/"id":"[^"]+"/g, ''), plain.text.replaceAll(/"id":"[^"]+"/g, ''), path)
    const denied = await ask({ path, body: said, output: [forbid('from the emulator')] })
    t.is(denied.status, 446, path)
    const replaced = await ask({ path, body: said, output: [{ 'default.regexReplace': { rule: 'the emulator', redactText: 'nowhere' } }] })
    t.is(replaced.status, 200)
    t.false(replaced.text.includes('emulator.') || replaced.text.includes(' emulator"'), replaced.text)
    t.true(replaced.text.includes('Hello from nowhere'), replaced.text)
  }
})

const messageFrame = (text: string) =>
  `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`

test.serial('a stream is stopped in the words of its API', async (t) => {
  const body = `${filler(400).map(messageFrame).join('')}${messageFrame('secret')}${filler(400).map(messageFrame).join('')}`
  emulator.script({
    behaviour: { body, headers: { 'content-type': 'text/event-stream' }, chunked: true, drip: { bytes: 2000, everyMs: 0 } },
  })
  const answer = await ask({ path: '/v1/messages', output: [forbid('secret')] })
  t.is(answer.status, 200)
  t.false(answer.text.includes('"text":"secret"'))
  t.regex(answer.text, /event: error\ndata: \{"type":"error","error":\{[^}]*"message":"Stopped\."/)
})

test.serial('what the guardrails found is told in the stream only to who asked for it', async (t) => {
  const body = says(['Hello', ' you'])
  const asked = { input: [forbid('secret')], output: [{ 'default.regexMatch': { rule: 'nothing' } }] }
  t.is((await ask(asked)).text, body)
  const told = await ask({ ...asked, more: { strict_open_ai_compliance: false } })
  t.is(told.status, 200)
  const events = told.text.split('\n\n').filter(Boolean)
  const first = JSON.parse(events[0]?.slice(6) ?? '') as { hook_results: HookResults }
  t.true(first.hook_results.before_request_hooks[0]?.verdict)
  const last = JSON.parse(events.at(-2)?.slice(6) ?? '') as { hook_results: HookResults }
  t.false(last.hook_results.after_request_hooks[0]?.verdict)
  t.is(events.at(-1), 'data: [DONE]')
})

test.serial('a failure before the call gives a stream the status 246', async (t) => {
  const answer = await ask({
    input: [{ 'default.regexMatch': { rule: 'nothing of this' } }],
    body: { messages: [{ role: 'user', content: 'x' }] },
  })
  t.is(answer.status, 246)
  t.true(answer.text.includes('[DONE]'))
})

/** A check that needs the whole text, and never gets it. */
const whole = (then: 'warn' | 'deny') => ({ ...deny('default.contains', { words: ['never said'] }), deny: then === 'deny' })

test.serial('no more is held than may be', async (t) => {
  const body = says(filler(300))
  const allowed = await ask({ output: [whole('warn')], at: small })
  t.is(allowed.status, 200)
  t.is(allowed.text, body)
  t.is((await ask({ output: [whole('deny')], at: small })).status, 446)
  const prefix = await ask({ output: [forbid('secret')], at: small })
  t.is(prefix.text, body)
})

test.serial('a webhook that wants another answer than a stream gives cannot have it, and on_error decides', async (t) => {
  const wanted = JSON.stringify({ verdict: true, transformedData: { response: { json: { choices: [] } } } })
  const hook = createServer((_asked, answer) => void answer.setHeader('content-type', 'application/json').end(wanted)).listen(
    0,
    '127.0.0.1',
  )
  await once(hook, 'listening')
  t.teardown(() => hook.close())
  const { port } = hook.address() as AddressInfo
  const webhook = (on_error: string) => deny('default.webhook', { webhookURL: `http://127.0.0.1:${port}`, on_error })
  const allowed = await ask({ output: [webhook('allow')], more: { strict_open_ai_compliance: false } })
  t.is(allowed.status, 200)
  const [told = '{}'] = [...allowed.text.matchAll(/^data: (\{"hook_results".*)$/gm)].map(([, json]) => json)
  const [result] = (JSON.parse(told) as { hook_results: HookResults }).hook_results.after_request_hooks
  t.false(result?.transformed)
  t.regex(result?.checks[0]?.error?.message ?? '', /stream/)
  t.is((await ask({ output: [webhook('deny')] })).status, 446)
})

test.serial('of a stream that is longer than what is kept of it nobody says that it is short', async (t) => {
  says(Array.from({ length: 4 }, () => 'x'.repeat(700_000)))
  const answer = await ask({ output: [deny('default.characterCount', { maxCharacters: 2_500_000, on_error: 'deny' })] })
  t.true(answer.text.includes('Stopped.'))
})

test.serial('a whole answer that is too large to hold is passed on, or denied, as the guardrail says', async (t) => {
  const large = { choices: [{ message: { role: 'assistant', content: 'x'.repeat(10_000) } }] }
  emulator.script({ behaviour: { body: JSON.stringify(large), headers: { 'content-type': 'application/json' } } })
  const allowed = await ask({ output: [whole('warn')], at: small, body: { stream: false } })
  t.is(allowed.status, 246)
  t.deepEqual(JSON.parse(allowed.text), large)
  t.is((await ask({ output: [whole('deny')], at: small, body: { stream: false } })).status, 446)
})

test.serial('a client that leaves a held stream ends the call', async (t) => {
  emulator.script({ behaviour: { frames: 600, frameEveryMs: 20 } })
  const left = emulator.onClose()
  const { url, headers, body } = optionsOf({ output: [deny('default.contains', { words: ['never said'] })] })
  const sent = request(url, { method: 'POST', headers })
  sent.on('error', () => {})
  const arrived = emulator.next()
  sent.end(body)
  await arrived
  sent.destroy()
  await left
  t.pass()
})

test.serial('a provider that breaks off a held stream is told as such', async (t) => {
  emulator.script({ behaviour: { cutAt: 300, cutWith: 'reset' } })
  const answer = await ask({ output: [forbid('secret')] })
  t.is(answer.status, 502)
})
