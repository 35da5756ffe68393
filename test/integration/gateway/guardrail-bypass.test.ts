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
  readonly body?: string | Buffer | object
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
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
}

const hooksOf = ({ text }: RawAnswer) => (JSON.parse(text) as { hook_results: HookResults }).hook_results

/** A service that returns another request, or answer, than it got. */
const makes = (json: object): Given => {
  const transformedData = { request: { json }, response: { json } }
  hook.script({ behaviour: { body: JSON.stringify({ verdict: true, transformedData }), headers: { 'content-type': 'application/json' } } })
  return one('webhook', { webhookURL: `${hook.url}/chat/completions`, on_error: 'allow' })
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

const batchOf = (content: string, model: string) => {
  const params = { model, max_tokens: 5, messages: [{ role: 'user', content }] }
  return { path: '/messages/batches', body: { requests: [{ custom_id: 'a', params }] } }
}

test.serial('the words and the models of a batch of messages are read too', async (t) => {
  t.is((await ask({ ...batchOf('so FORBIDDEN', 'm'), input: [forbids('FORBIDDEN')] })).status, 446)
  t.is((await ask({ ...batchOf('x', 'bad'), provider: '@few' })).status, 403)
  t.is(emulator.requests.length, 0)
  t.is((await ask({ ...batchOf('x', 'ok'), provider: '@few', input: [forbids('FORBIDDEN')] })).status, 200)
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
const form = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, value]) => `--x1\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('') + '--x1--\r\n'
const formType = 'multipart/form-data; boundary=x1'
const named: readonly (readonly [what: string, asked: Asked])[] = [
  ['a field of a form', { path: '/audio/transcriptions', type: formType, body: form({ model: 'm', prompt: 'x' }) }],
  ['the path of Gemini', { path: '/models/m:generateContent', body: { contents: [] } }],
  ['the path of Azure', { path: '/deployments/m/chat/completions', body: { messages: [] } }],
  ['the path of an engine', { path: '/engines/m/completions', body: { prompt: 'x' } }],
  ['a path in another spelling', { path: '//%6dodels//%6D:generateContent', body: { contents: [] } }],
  ['the second of a list', { path: '/chat/completions', body: { ...say('x', 'ok'), models: ['ok', 'm'] } }],
  ['a tool of a response', { path: '/responses', body: { model: 'ok', input: 'x', tools: [{ type: 'image_generation', model: 'm' }] } }],
  ['a request of a batch', { path: '/messages/batches', body: { model: 'ok', requests: [{ params: { model: 'm', messages: [] } }] } }],
  ['a request of a batch of Gemini', { path: '/models/ok:batchEmbedContents', body: { requests: [{ model: 'm', content: {} }] } }],
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

test.serial('a model that is not enabled is not served as the tool of another', async (t) => {
  const tools = [{ type: 'image_generation', model: 'bad' }]
  const answer = await ask({ provider: '@few', path: '/responses', body: { model: 'ok', input: 'x', tools } })
  t.is(answer.status, 403, answer.text)
  t.is(emulator.requests.length, 0)
})

test.serial("a body of Gemini's that says the model of its path again names no other", async (t) => {
  const body = { model: 'models/ok', content: { parts: [{ text: 'x' }] } }
  t.not((await ask({ provider: '@few', path: '/models/ok:embedContent', body })).status, 403)
  t.is(emulator.requests.length, 1)
  t.is((await ask({ provider: '@few', path: '/models/ok:embedContent', body: { ...body, model: 'models/bad' } })).status, 403)
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

const strict = forbids('FORBIDDEN', { on_error: 'allow' })
const warns = one('contains', { words: ['FORBIDDEN'], operator: 'none' }, { onFail: 'warn' })
const upload = (more: string) =>
  `--x1\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\nFORBIDDEN\r\n${form({ model: 'm' }).slice(0, -8)}${more}`
const speech = { path: '/audio/transcriptions', type: formType, provider: '@p' }

test.serial('the fields of a form are read', async (t) => {
  const body = upload(form({ prompt: 'FORBIDDEN' }))
  for (const path of ['/audio/transcriptions', '/images/edits', '/of/a/provider'])
    for (const input of [forbids('FORBIDDEN'), one('requestParametersCheck', { params: { blockedKeys: ['prompt'] } })])
      t.is((await ask({ ...speech, path, body, input: [input] })).status, 446)
  t.is(emulator.requests.length, 0)
  const passed = await ask({ ...speech, body: upload(form({ prompt: 'ok' })), input: [strict] })
  t.is(passed.status, 200, `a file is no text: ${passed.text}`)
  t.is(emulator.requests[0]?.body.toString(), upload(form({ prompt: 'ok' })), 'byte for byte')
})

const tagged = (prompt: string) => upload(form({ prompt }).slice(0, -8) + form({ tag: 'x' }).slice(0, -8) + form({ tag: 'y' }))

test.serial('a webhook is told of the fields of a form, and changes them', async (t) => {
  const told = { file: null, model: 'm', prompt: 'a WORD', tag: ['x', 'y'] }
  await ask({ ...speech, body: tagged('a WORD'), input: [makes({ ...told, prompt: 'changed' })] })
  t.like(hook.requests[0]?.json, { request: { json: told } })
  t.is(emulator.requests[0]?.body.toString(), tagged('changed'))
  await ask({ ...speech, body: tagged('a WORD'), input: [replaces('WORD', '###')] })
  t.is(emulator.requests[1]?.body.toString(), tagged('a ###'))
  for (const json of [
    { model: 'm' },
    { ...told, more: 'x' },
    { ...told, prompt: 1 },
    { ...told, file: 'x' },
    { ...told, prompt: '--x1--' },
  ]) {
    hook.reset()
    const kept = await ask({ ...speech, body: tagged('a WORD'), input: [makes(json)] })
    t.is(emulator.requests.at(-1)?.body.toString(), tagged('a WORD'))
    t.like(hooksOf(kept).before_request_hooks[0]?.checks[0], { transformed: false, error: { name: 'CheckError' } })
  }
})

for (const type of ['image/png', 'application/octet-stream', 'application/pdf', 'multipart/form-data', formType, 'text/plain', 'audio/wav'])
  test.serial(`a body that is JSON is read as JSON, whatever it says: ${type}`, async (t) => {
    const body = '\n{"model":"m","messages":[{"role":"user","content":"FORB\\u0049DDEN"}]}'
    t.is((await ask({ path: '/api/chat', type, body, input: [forbids('FORBIDDEN')] })).status, 446)
    t.is(emulator.requests.length, 0)
    await ask({ path: '/api/echo', type, body, input: [replaces('FORBIDDEN', '###')] })
    t.is(emulator.requests[0]?.body.toString(), body.replace(/FORB.*DDEN/, '###'))
  })

const unclear: readonly (readonly [what: string, asked: Asked])[] = [
  ['media', { path: '/of/a/provider', type: 'image/png', body: '\u0089PNG' }],
  ['another multipart', { ...speech, type: 'multipart/related; boundary=x1', body: form({ prompt: 'x' }) }],
  ['no boundary', { ...speech, type: 'multipart/form-data', body: form({ prompt: 'x' }) }],
  ['two boundaries', { ...speech, type: `${formType}; boundary=x2`, body: form({ prompt: 'x' }) }],
  ['a field with two names', { ...speech, body: form({ 'prompt"; name="other': 'x' }) }],
  ['a name in another charset', { ...speech, body: form({ x: '1' }).replace('name="x"', "name*=utf-8''prompt") }],
  ['a coded field', { ...speech, body: form({ prompt: 'x' }).replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n') }],
  ['line feeds alone', { ...speech, body: form({ prompt: 'x' }).replaceAll('\r', '') }],
  ['a boundary in a line', { ...speech, body: form({ prompt: 'x --x1 y' }) }],
  ['no end', { ...speech, body: form({ prompt: 'x' }).replace('--x1--', '') }],
  ['something behind the end', { ...speech, body: `${form({ prompt: 'x' })}more` }],
]
for (const [what, asked] of unclear)
  test.serial(`what cannot be read for certain is no reason to pass: ${what}`, async (t) => {
    const denied = await ask({ ...asked, input: [strict] })
    t.is(denied.status, 446, denied.text)
    t.is(emulator.requests.length, 0)
    t.not((await ask({ ...asked, input: [warns] })).status, 446)
    t.true(emulator.requests[0]?.body.toString() === asked.body)
    hook.reset()
    hook.script({ behaviour: { body: '{"verdict":false}', headers: { 'content-type': 'application/json' } } })
    const told = await ask({ ...asked, input: [one('webhook', { webhookURL: `${hook.url}/chat/completions` })] })
    t.is(told.status, 446, 'who says no although it cannot be read is heard')
  })

test.serial('an upload that is longer than what is held goes through as it comes, past those that deny nothing', async (t) => {
  const small = await startGateway({
    providers: { p: { customHost: emulator.url } },
    settings: { maxJsonBytes: 1000, maxUploadBytes: 300_000 },
  })
  t.teardown(() => small.stop())
  const body = upload(form({ prompt: 'x'.repeat(200_000) }))
  const sent = (input: Given, headers: Readonly<Record<string, string>>, long = body) =>
    send(`${small.origin}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: {
        'x-service-api-key': workspaceKey,
        'content-type': formType,
        'x-service-config': JSON.stringify({ provider: '@p', input_guardrails: [inline(input)] }),
        ...headers,
      },
      body: long,
    })
  for (const headers of [{ 'content-length': String(body.length) }, { 'transfer-encoding': 'chunked' }]) {
    t.is((await sent(warns, headers)).status, 246)
    t.is(emulator.requests.at(-1)?.body.toString(), body)
    t.is((await sent(strict, headers)).status, 446)
  }
  t.is(emulator.requests.length, 2)
  const short = upload(form({ prompt: 'FORBIDDEN' }))
  t.is((await sent(forbids('FORBIDDEN'), { 'transfer-encoding': 'chunked' }, short)).status, 446)
})

const huge = ' '.repeat(1_100_000)
const scattered = Array.from({ length: 60_000 }, () => ({ type: 'text', text: 'x' }))
const deep = `${'['.repeat(120)}"FORBIDDEN"${']'.repeat(120)}`
/** Changes of a text that a caller may make unnoticed. */
const padded: readonly (readonly [what: string, asked: Asked])[] = [
  ['1.1 million spaces', { body: { model: 'm', messages: [{ role: 'user', content: `FORBIDDEN${huge}` }] } }],
  ['60,000 parts', { body: { model: 'm', messages: [{ role: 'user', content: [...scattered, { type: 'text', text: 'FORBIDDEN' }] }] } }],
  ['deep nesting', { path: '/of/a/provider', body: `{"a":${deep},"b":[${Array.from({ length: 3000 }, () => deep).join()}]}` }],
  ['11 MB of bytes', { path: '/of/a/provider', type: 'application/octet-stream', body: `FORBIDDEN${huge.repeat(10)}` }],
]
for (const [what, asked] of padded)
  test.serial(`a denying guardrail holds, and a warning one passes: ${what}`, async (t) => {
    const held = await ask({ provider: '@p', ...asked, input: [forbids('FORBIDDEN', { on_error: 'allow' })] })
    t.is(held.status, 446)
    t.is(emulator.requests.length, 0)
    t.not((await ask({ provider: '@p', ...asked, input: [warns] })).status, 446)
    t.is(emulator.requests.length, 1)
  })

const branch = (at: number): object => ({ anyOf: [{ $ref: `#/$defs/s${at + 1}` }, { $ref: `#/$defs/s${at + 1}` }] })

test.serial('an answer for which a schema branches without end is held', async (t) => {
  const $defs = Object.fromEntries([...Array.from({ length: 40 }, (_, at) => [`s${at}`, branch(at)] as const), ['s40', { type: 'null' }]])
  const schema = { $ref: '#/$defs/s0', $defs }
  t.is((await ask({ provider: '@p', output: [one('jsonSchema', { schema })], body: say('{}') })).status, 446)
})

const askedAt = (path: string, guardrail: Given) => ask({ provider: '@p', path, type: '', body: '', input: [guardrail] })

test.serial('what the query and the path say is read, and not changed', async (t) => {
  for (const path of [
    '/search?q=very%20FORBIDDEN',
    '/search?q=FORBIDDEN',
    '/search?prompt=FORBIDDEN',
    '/find/so%20FORBIDDEN/x',
    '/search?text=FORBIDDEN&limit=3',
  ])
    t.is((await askedAt(path, forbids('FORBIDDEN'))).status, 446, path)
  t.is((await askedAt('/search?q=very%20FORBIDDEN', replaces('FORBIDDEN', '###'))).status, 446)
  t.is(emulator.requests.length, 0)
  for (const path of ['/search?limit=3&order=FORBIDDEN', '/files/FORBIDDEN'])
    t.not((await askedAt(path, forbids('FORBIDDEN'))).status, 446, 'a name says nothing')
})

const utf16 = (text: string) => Buffer.from(text, 'utf16le').toString('latin1')
const wall = 'a'.repeat(600)
const escaped = String.raw`FORB\u0049DDEN`
const other = (type: string, body: string): Asked => ({ path: '/of/a/provider', type, body })
/** Texts that mean the word to a provider, and are not spelled with its letters. */
const coded: readonly (readonly [what: string, asked: Asked])[] = [
  ['UTF-16', other('text/plain', utf16('FORBIDDEN'))],
  ['UTF-16 that its type announces', other('text/plain; charset=utf-16', utf16('FORBIDDEN'))],
  ['UTF-16 without a type', other('', utf16('{"a":"FORBIDDEN"}'))],
  ['UTF-7, as a parameter of JSON', { type: 'application/json; charset="utf-7"', body: say('+AEYATwBSAEIASQBEAEQARQBO-') }],
  ['another charset of a text', other('text/plain;CharSet = ibm037', 'x')],
  ['bytes that are no text', other('text/plain', '\xff\xfe')],
  ['an encoded form', other('application/x-www-form-urlencoded', 'prompt=FORB%49DDEN')],
  ['JSON in an encoded form', other('application/x-www-form-urlencoded', 'prompt=%7B%22a%22%3A%22FORB%5Cu0049DDEN%22%7D')],
  ['an encoded form without a type', other('', 'prompt=FORB%49DDEN')],
  ['lines of JSON', other('application/x-ndjson', `{"a":"${escaped}"}\n{"a":"x"}\n`)],
  ['a list of JSON', other('application/json-seq', `\x1e{"a":"${escaped}"}\n`)],
  ['JSON behind more blanks than are looked past', other('text/plain', `${' '.repeat(1100)}{"a":"${escaped}"}`)],
  ['JSON behind a mark of the order of bytes', other('text/plain', `\xef\xbb\xbf{"a":"${escaped}"}`)],
  ['JSON with a comment', other('text/plain', `/**/{"a":"${escaped}"}`)],
  ['entities of XML', other('application/xml', '<a>FORB&#73;DD&#x45;N</a>')],
  ['escapes of YAML', other('application/yaml', String.raw`a: "FORB\x49DDEN"`)],
  ['numbers of tokens', { path: '/completions', body: { model: 'm', prompt: [1, 2, 3] } }],
  ['lists of numbers of tokens', { path: '/embeddings', body: { model: 'm', input: [[1, 2], [3]] } }],
  ['numbers of tokens within a prompt', { path: '/of/a/provider', body: { model: 'm', prompt: { prompt_token_ids: [1, 2] } } }],
  ['the conversation before as numbers', { path: '/api/generate', body: { model: 'm', prompt: 'x', context: [1, 2] } }],
  ['lines behind a long word in a field that nobody knows', { body: { ...say('x'), custom: `${wall}\ntell\nme\nFORBIDDEN` } }],
  ['tabs behind a long word in a name', { body: { ...say('x'), user: `${wall}\ttell\tme\tFORBIDDEN` } }],
  ['letters beyond ASCII behind a long word', { body: { ...say('x'), custom: `${wall}\u00a0tell\u00a0FORBIDDEN` } }],
  ['carriage returns behind a long word', { body: { ...say('x'), user: `${wall}\rtell\rFORBIDDEN` } }],
]
for (const [what, asked] of coded)
  test.serial(`a denying guardrail holds what is coded: ${what}`, async (t) => {
    const bytes = typeof asked.body === 'string' ? Buffer.from(asked.body, 'latin1') : asked.body
    const held = await ask({ ...asked, body: bytes ?? '', input: [strict] })
    t.is(held.status, 446, held.text)
    t.is(emulator.requests.length, 0)
  })

const data: readonly (readonly [what: string, asked: Asked])[] = [
  ['media in one line', { body: { ...say('x'), image: Buffer.alloc(9000, 7).toString('base64') } }],
  ['media in lines', { body: { ...say('x'), image: (Buffer.alloc(57, 7).toString('base64') + '\r\n').repeat(100) } }],
  ['numbers that are none of tokens', { path: '/of/a/provider', body: { vector: [1, 2, 3], matrix: [[1], [2]] } }],
  ['a text with its charset', { type: 'application/json; charset=UTF-8', body: say('x') }],
  ['a text with a percent sign', other('text/plain', '100%25 of it')],
]
for (const [what, asked] of data)
  test.serial(`what is coded and says nothing passes: ${what}`, async (t) => {
    t.not((await ask({ ...asked, input: [strict] })).status, 446)
    t.is(emulator.requests.length, 1)
  })

const ollama = (content: string) =>
  `${JSON.stringify({ model: 'm', created_at: '2026', message: { role: 'assistant', content }, done: false })}\n`
const gemini = (text: string) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }] })
/** Streams that are no server-sent events: a text comes in pieces that no frame holds whole. */
const framed: readonly (readonly [what: string, type: string, body: string])[] = [
  ['lines of JSON', 'application/x-ndjson', ollama('so FORB') + ollama('IDDEN') + ollama('.')],
  ['one line of JSON with an escape', 'application/x-ndjson', `{"response":"${escaped}"}\n`],
  ['a sequence of JSON', 'application/json-seq', `\u001e${ollama('so FORB')}\u001e${ollama('IDDEN')}`],
]
for (const [what, type, body] of framed)
  test.serial(`what the frames of a stream say together is read: ${what}`, async (t) => {
    for (const [guardrail, status] of [
      [forbids('FORBIDDEN'), 446],
      [replaces('FORBIDDEN', '###'), 446],
      [forbids('OTHER'), 200],
    ] as const) {
      emulator.script({ behaviour: { status: 200, body, headers: { 'content-type': type } } })
      const answer = await ask({ provider: '@p', path: '/api/chat', output: [guardrail] })
      t.is(answer.status, status, answer.text)
      t.is(answer.text === body, status === 200, 'as it came, or not at all')
    }
  })

test.serial('what the frames of an array say together is read, and changed', async (t) => {
  const body = JSON.stringify([gemini('so FORB'), gemini('IDDEN')])
  for (const [guardrail, status, text] of [
    [forbids('FORBIDDEN'), 446, null],
    [replaces('FORBIDDEN', '###'), 200, JSON.stringify([gemini('so ###'), gemini('')])],
    [forbids('OTHER'), 200, body],
  ] as const) {
    emulator.script({ behaviour: { status: 200, body, headers: { 'content-type': 'application/json' } } })
    const answer = await ask({ provider: '@p', path: '/api/chat', output: [guardrail] })
    t.is(answer.status, status, answer.text)
    if (text !== null) t.is(answer.text, text)
  }
})

/** The statement of docs/guide/guardrails.md on requests that no check reads. */
const unread = one('allowedRequestTypes', { blockedTypes: ['uploadFile', 'createBatch', 'createFinetune', 'proxy'] })
const boundary = '----batch'
const line = JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: say('FORBIDDEN') })
const file = `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="b.jsonl"\r\ncontent-type: application/jsonl\r\n\r\n${line}\r\n--${boundary}--\r\n`
const batches: readonly (readonly [path: string, body: string | object, type?: string])[] = [
  ['/files', file, `multipart/form-data; boundary=${boundary}`],
  ['/%66iles', file, `multipart/form-data; boundary=${boundary}`],
  ['/files/', file, `multipart/form-data; boundary=${boundary}`],
  ['/batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }],
  ['//batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }],
  ['/fine_tuning/jobs', { training_file: 'file-1', model: 'm', suffix: 's', method: { type: 'supervised' } }],
  ['/uploads', { filename: 'b.jsonl', purpose: 'batch', bytes: 1, mime_type: 'application/jsonl' }],
  ['/uploads/upload_1/parts', file, `multipart/form-data; boundary=${boundary}`],
]
for (const [path, body, type] of batches)
  test.serial(`what no check can read is refused where the kinds of it are blocked: ${path}`, async (t) => {
    const answer = await ask({ path, body, ...(type !== undefined && { type }), input: [unread] })
    t.is(answer.status, 446, answer.text)
    t.is(emulator.requests.length, 0)
  })

test.serial('a batch whose requests are in its body is read', async (t) => {
  const requests = [{ custom_id: '1', params: { max_tokens: 1, ...say('FORBIDDEN') } }]
  t.is((await ask({ path: '/messages/batches', body: { requests }, key: forbidding, input: [] })).status, 446)
  t.is(emulator.requests.length, 0)
})
