import test from 'ava'
import type { GuardrailDefinition } from '../../../src/gateway/checks/guardrail.ts'
import type { HookResults } from '../../../src/gateway/checks/hook-results.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RawAnswer, send } from '../../support/http.ts'

let emulator: Emulator
let hook: Emulator
let bed: GatewayBed

type Given = Pick<GuardrailDefinition, 'checks' | 'actions'>
const one = (id: string, parameters: object, actions: Given['actions'] = { onFail: 'block' }): Given => ({
  checks: [{ id: `default.${id}`, parameters: { ...parameters } }],
  actions,
})
const forbids = (word: string, more: object = {}) => one('contains', { words: [word], operator: 'none', ...more })
const replaces = (rule: string, redactText: string) => one('regexReplace', { rule, redactText })

/** Keys whose workspace imposes guardrails, before and after the call. */
const imposed = { 'gh-test-key-that-forbids-a-word-0000000': ['no-word'], 'gh-test-key-that-takes-a-word-out-00000': ['mask', 'no-word'] }
const [forbidding, masking] = Object.keys(imposed)

const onlyOk = { allowAll: false, named: new Map([['ok', { enabled: true, customHost: null }]]) }

test.before(async () => {
  ;[emulator, hook] = await Promise.all([startEmulator(), startEmulator()])
  bed = await startGateway({
    providers: { p: { customHost: emulator.url }, few: { customHost: emulator.url, models: onlyOk } },
    keys: Object.fromEntries(
      Object.entries(imposed).map(([key, guardrails]) => [
        key,
        { defaults: { config: null, configLocked: false, inputGuardrails: guardrails, outputGuardrails: guardrails } },
      ]),
    ),
    guardrails: { 'no-word': forbids('FORBIDDEN'), mask: replaces('FORBIDDEN', '###') },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await Promise.all([emulator?.stop(), hook?.stop()])
})
test.beforeEach(() => {
  emulator.reset()
  hook.reset()
})

interface Asked {
  readonly input?: readonly (string | Given)[]
  readonly output?: readonly (string | Given)[]
  readonly path?: string
  readonly key?: string | undefined
  readonly provider?: string
  readonly type?: string
  readonly body?: string | object
  readonly headers?: Readonly<Record<string, string>>
}

/** A guardrail as a config holds it; one may take the id of another. */
const inline = (given: string | Given) =>
  typeof given === 'string' ? given : { checks: given.checks, ...given.actions, onFail: undefined, deny: given.actions.onFail === 'block' }

const say = (content: string, model = 'm') => ({ model, messages: [{ role: 'user', content }] })

const ask = ({ input, output, path = '/chat/completions', key = workspaceKey, provider = '@p', ...asked }: Asked): Promise<RawAnswer> => {
  const { type = 'application/json', body = say('hello'), headers = {} } = asked
  const config = JSON.stringify({ provider, input_guardrails: input?.map(inline), output_guardrails: output?.map(inline) })
  return send(`${bed.origin}/v1${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'content-type': type, 'x-service-config': config, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

const hooksOf = ({ text }: RawAnswer) => (JSON.parse(text) as { hook_results: HookResults }).hook_results

/** A service that makes another request, or answer, of what it is told. */
const makes = (json: object): Given => {
  const transformedData = { request: { json }, response: { json } }
  hook.script({ behaviour: { body: JSON.stringify({ verdict: true, transformedData }), headers: { 'content-type': 'application/json' } } })
  return one('webhook', { webhookURL: `${hook.url}/chat/completions` })
}

test.serial('what the caller’s own checks make of a request or an answer, the guardrails that nobody chose judge', async (t) => {
  const inputs = [() => replaces('WORD', 'FORBIDDEN'), () => one('addPrefix', { prefix: 'FORBIDDEN: ' }), () => makes(say('FORBIDDEN'))]
  for (const make of inputs) {
    const answer = await ask({ key: forbidding, input: [make()], body: say('a WORD') })
    t.is(answer.status, 446, answer.text)
    t.is(emulator.requests.length, 0)
  }
  const after = await ask({ key: forbidding, output: [makes({ choices: [{ message: { role: 'assistant', content: 'FORBIDDEN' } }] })] })
  t.is(after.status, 446)
  const named = await ask({ key: forbidding, input: ['no-word', replaces('WORD', 'FORBIDDEN')], body: say('a WORD') })
  t.deepEqual(
    hooksOf(named).before_request_hooks.map(({ verdict }) => verdict),
    [true, false],
    'once, and last',
  )
})

test.serial('a guardrail that nobody chose may itself change what the caller’s checks made', async (t) => {
  const answer = await ask({ key: masking, input: [replaces('WORD', 'FORBIDDEN')], body: say('a WORD') })
  t.is(answer.status, 200, answer.text)
  t.deepEqual(emulator.requests[0]?.json, say('a ###'))
})

test.serial('a model that a check puts in the body must be enabled too', async (t) => {
  t.is((await ask({ provider: '@few', body: say('x', 'bad') })).status, 403)
  const refused = await ask({ provider: '@few', input: [makes(say('x', 'bad'))], body: say('x', 'ok') })
  t.is(refused.status, 403, refused.text)
  t.is(emulator.requests.length, 0)
  hook.reset()
  t.is((await ask({ provider: '@few', input: [makes(say('changed', 'ok'))], body: say('x', 'ok') })).status, 200)
  t.deepEqual(emulator.requests[0]?.json, say('changed', 'ok'))
})

const twice: readonly (readonly [body: string, key: string])[] = [
  ['{"model":"m","messages":[{"role":"user","content":"FORBIDDEN"}],"messages":[{"role":"user","content":"ok"}]}', 'messages'],
  ['{"model":"m","messages":[{"role":"user","content":"FORBIDDEN", "cont\\u0065nt" : "ok"}]}', 'content'],
  ['{"model":"m","tools":[{"a":{"b":1,"b":1}}],"messages":[]}', 'b'],
]
for (const [body, key] of twice)
  test.serial(`of two values nobody knows which is read: ${key}`, async (t) => {
    for (const input of [[forbids('FORBIDDEN')], [one('requestParametersCheck', { params: { blockedKeys: ['seed'] } })]]) {
      const answer = await ask({ input, body })
      t.is(answer.status, 400)
      t.like(JSON.parse(answer.text), { error: { param: key } })
      t.regex(answer.text, new RegExp(`the key \\\\"${key}\\\\" twice`))
    }
    t.is(emulator.requests.length, 0)
    t.is((await ask({ body, output: [forbids('FORBIDDEN')] })).status, 200, 'nobody reads it')
    t.is((await ask({ body, input: [one('allowedRequestTypes', { allowedTypes: ['chatComplete'] })] })).status, 200, 'nor here')
  })

test.serial('a key may stand in many objects, and in texts', async (t) => {
  const body = { ...say('{"a":1,"a":2}: "content": x'), tools: [{ a: ':', b: { a: '"a":' } }, { a: {} }, {}], metadata: {} }
  t.is((await ask({ input: [forbids('FORBIDDEN')], body })).status, 200)
})

const lists = (models: readonly string[], not = false) => one('modelWhitelist', { models, not })
const rules = (models: readonly string[]) => one('modelRules', { rules: { defaults: models } })
const named: readonly (readonly [what: string, asked: Asked])[] = [
  ['the path of Gemini', { path: '/models/m:generateContent', body: { contents: [] } }],
  ['the path of Azure', { path: '/deployments/m/chat/completions', body: { messages: [] } }],
  ['the path of an engine', { path: '/engines/m/completions', body: { prompt: 'x' } }],
  ['a path in another spelling', { path: '//%6dodels//%6D:generateContent', body: { contents: [] } }],
  ['the second of a list', { path: '/chat/completions', body: { ...say('x', 'ok'), models: ['ok', 'm'] } }],
]
for (const [what, asked] of named)
  test.serial(`the model is known from ${what}`, async (t) => {
    for (const input of [lists(['ok']), lists(['m'], true), rules(['ok'])]) {
      const denied = await ask({ ...asked, input: [input] })
      t.is(denied.status, 446, denied.text)
      t.regex(hooksOf(denied).before_request_hooks[0]?.checks[0]?.data?.['explanation'] as string, /The model m is/)
    }
    t.is(emulator.requests.length, 0)
    t.not((await ask({ ...asked, input: [lists(['m', 'ok']), lists(['zz'], true), rules(['m', 'ok'])] })).status, 446)
    t.is(emulator.requests.length, 1)
  })

test.serial('the model that a check put in the body is the one that is judged', async (t) => {
  t.is((await ask({ input: [makes(say('x', 'other')), lists(['m'])] })).status, 446)
})

test.serial('an engine that is not enabled is not served, whatever the body says', async (t) => {
  const answer = await ask({ provider: '@few', path: '/engines/bad/completions', body: { model: 'ok', prompt: 'x' } })
  t.is(answer.status, 403, answer.text)
  t.is(emulator.requests.length, 0)
})

const spelt: readonly (readonly [kind: string, path: string])[] = [
  ['chatComplete', '/%63hat/completions'],
  ['chatComplete', '/chat/%63ompletion%73'],
  ['chatComplete', '/chat/completions/'],
  ['chatComplete', '//chat//completions'],
  ['chatComplete', '/chat%2fcompletions'],
  ['stream-chatComplete', '/chat/completions/?x=1'],
  ['messages', '/messages/'],
  ['rerank', '/rerank/'],
  ['moderate', '/%6Doderations'],
]
for (const [kind, path] of spelt)
  test.serial(`a kind of request is known in any spelling: ${kind} ${path}`, async (t) => {
    const body = { ...say('x'), stream: kind.startsWith('stream') }
    t.is((await ask({ path, body, input: [one('allowedRequestTypes', { blockedTypes: [kind] })] })).status, 446)
    t.is(emulator.requests.length, 0)
    t.not((await ask({ path, body, input: [one('allowedRequestTypes', { allowedTypes: [kind] })] })).status, 446)
    t.true(emulator.requests[0]?.url.endsWith(path), 'sent as it came')
  })
