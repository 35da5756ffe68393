import test from 'ava'
import { createApiKey } from '../../../src/lib/api-key.ts'
import { errorOf } from '../../support/caller.ts'
import type { Echo } from '../../support/emulator/emulator.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type RawAnswer, send, sendJson } from '../../support/http.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { ask } from '../../support/tenants.ts'

let emulator: Emulator
let gatehouse: Gatehouse

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'debug' } })
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

type Headers = Readonly<Record<string, string | readonly string[]>>

/** The five headers in which a key may come. */
const keyHeaders: Readonly<Record<string, (key: string) => Headers>> = {
  'x-service-api-key': (key) => ({ 'x-service-api-key': key }),
  'x-portkey-api-key': (key) => ({ 'x-portkey-api-key': key }),
  authorization: (key) => ({ authorization: `Bearer ${key}` }),
  'x-api-key': (key) => ({ 'x-api-key': key }),
  'api-key': (key) => ({ 'api-key': key }),
}

const injections = [
  `' OR '1'='1`,
  `' OR 1=1--`,
  `'; DROP TABLE api_keys;--`,
  `' UNION SELECT * FROM api_keys--`,
  `\\'; SELECT pg_sleep(5);--`,
  `$1`,
  `$$`,
  `?`,
  `??`,
  `:key`,
  `%27%20OR%201=1--`,
  `%00`,
  `\\x00`,
  `\\u0000`,
  `"`,
  `\``,
  `{"$ne":null}`,
  `["a"]`,
  `null`,
  `undefined`,
  `true`,
  `__proto__`,
  `constructor`,
  `toString`,
  `../../etc/passwd`,
  `{{7*7}}`,
  `\${jndi:ldap://127.0.0.1/a}`,
  `<script>alert(1)</script>`,
  `%s%s%s%n`,
  `Bearer`,
  `Bearer Bearer`,
  `Basic Og==`,
  `,`,
  `gh-`,
  `gh-...0000`,
  `${workspaceKey},${workspaceKey}`,
  `${workspaceKey} `.repeat(2).trim(),
  workspaceKey.slice(0, -1),
  workspaceKey.toUpperCase(),
  `${workspaceKey}\t.`,
  `\xe9\xff\x80`,
  '\xf0\x9f\x98\x80',
  'a'.repeat(16_000),
  createApiKey(),
  '0',
  '-1',
  `' AND (SELECT 1 FROM pg_sleep(5)) IS NOT NULL--`,
]

for (const [name, toHeaders] of Object.entries(keyHeaders)) {
  test(`no text in ${name} is a key, or more than a text`, async (t) => {
    await inParallel(injections, 8, async (text) => {
      for (const path of ['/v1/api-keys', '/v1/chat/completions', '/v1/messages', `/v1/logs/${crypto.randomUUID()}`]) {
        const answer = await send(`${gatehouse.origin}${path}`, { headers: { 'content-type': 'application/json', ...toHeaders(text) } })
        t.is(answer.status, 401, `${path} ${JSON.stringify(text.slice(0, 60))}: ${answer.text}`)
        t.regex(answer.text, /"(?:unauthorized|AB05)"/)
      }
    })
  })
}

test.after('the database heard of none of it', async (t) => {
  t.is((await ask(gatehouse, adminKey, { path: '/api-keys' })).status, 200)
  const faults = gatehouse
    .output()
    .split('\n')
    .filter((line) => /"level":"(?:error|fatal)"|syntax|SQLSTATE|could not be read|unterminated/.test(line))
  t.deepEqual(faults, [])
})

const custom = () => ({ 'x-service-provider': 'openai', 'x-service-custom-host': `${emulator.url}/echo` })
const receivedBy = ({ text }: RawAnswer) => (JSON.parse(text) as Echo).rawHeaders.join('\n')

/** Ways to send one key in two places, or two keys. */
const doubled: Readonly<Record<string, () => Headers>> = {
  'in x-service-api-key and as the bearer': () => ({ 'x-service-api-key': workspaceKey, authorization: `Bearer ${workspaceKey}` }),
  'in x-service-api-key and as another scheme': () => ({ 'x-service-api-key': workspaceKey, authorization: `Key ${workspaceKey}` }),
  'in x-service-api-key and bare': () => ({ 'x-service-api-key': workspaceKey, authorization: workspaceKey }),
  'in x-service-api-key and x-api-key': () => ({ 'x-service-api-key': workspaceKey, 'x-api-key': workspaceKey }),
  'in x-service-api-key and api-key': () => ({ 'x-service-api-key': workspaceKey, 'api-key': workspaceKey }),
  'as the bearer and in x-api-key': () => ({ authorization: `Bearer ${workspaceKey}`, 'x-api-key': workspaceKey }),
  'in x-api-key and api-key': () => ({ 'x-api-key': workspaceKey, 'api-key': workspaceKey }),
  'in both prefixes': () => ({ 'x-service-api-key': workspaceKey, 'x-portkey-api-key': adminKey }),
  'in a header that Connection names': () => ({ 'x-service-api-key': workspaceKey, connection: 'x-service-api-key' }),
  'beside another key of ours': () => ({ 'x-service-api-key': workspaceKey, authorization: `Bearer ${createApiKey()}` }),
}

for (const [name, toHeaders] of Object.entries(doubled)) {
  for (const provider of ['openai', 'anthropic', 'azure-openai', 'qdrant']) {
    test(`our key stays here: ${name}, for ${provider}`, async (t) => {
      const answer = await send(`${gatehouse.origin}/v1/probe`, {
        headers: { ...custom(), 'x-service-provider': provider, ...toHeaders() },
      })
      if (answer.status !== 200) {
        t.is(errorOf(answer).code, 'missing_credential', answer.text)
        return
      }
      t.notRegex(receivedBy(answer), /gh-|x-service|x-portkey/i)
    })
  }
}

test('the provider’s key goes on beside ours, in every header', async (t) => {
  const mine = { 'x-service-api-key': workspaceKey }
  for (const theirs of [{ authorization: 'Bearer sk-theirs' }, { 'x-api-key': 'sk-theirs' }, { 'api-key': 'sk-theirs' }])
    t.regex(receivedBy(await send(`${gatehouse.origin}/v1/probe`, { headers: { ...custom(), ...mine, ...theirs } })), /Bearer sk-theirs/)
  const bearer = { authorization: 'Bearer sk-theirs', 'x-api-key': workspaceKey }
  t.regex(receivedBy(await send(`${gatehouse.origin}/v1/probe`, { headers: { ...custom(), ...bearer } })), /Bearer sk-theirs/)
})

test('one of two different keys in one header is not chosen by luck', async (t) => {
  const answer = await send(`${gatehouse.origin}/v1/probe`, { headers: { ...custom(), 'x-service-api-key': [workspaceKey, adminKey] } })
  t.is(answer.status, 400, answer.text)
})

test('fields sent by header do not bend a stored provider', async (t) => {
  await ask(gatehouse, adminKey, {
    method: 'POST',
    path: '/integrations',
    body: {
      name: 'bent',
      default_provider_slug: 'bent',
      ai_provider_id: 'openai',
      key: 'sk-bent-credential',
      configurations: { custom_host: `${emulator.url}/echo`, openai_organization: 'org-stored' },
    },
  })
  const headers = {
    'x-service-api-key': workspaceKey,
    'x-service-provider': '@bent',
    'x-service-openai-organization': 'org-sent',
    'x-service-azure-foundry-url': 'http://127.0.0.1:1',
    'x-service-__proto__': 'x',
    'x-service-constructor': 'x',
    authorization: 'Bearer sk-sent',
    'x-api-key': 'sk-sent',
    'openai-organization': 'org-sent',
  }
  const received = receivedBy(await send(`${gatehouse.origin}/v1/probe`, { headers }))
  t.regex(received, /Bearer sk-bent-credential/)
  t.regex(received, /org-stored/)
  t.notRegex(received, /sent/)
})

for (const model of ['@bent/..', '@bent/../../x', '@bent/\u0000', `@bent/${'('.repeat(2000)}`, '@bent/"}', '@bent/\ud800']) {
  test(`the model ${JSON.stringify(model.slice(0, 20))} is the provider's to refuse`, async (t) => {
    await eventually(async () => (await ask(gatehouse, workspaceKey, { path: '/providers/bent' })).status === 200, 10_000)
    const answer = await sendJson(`${gatehouse.origin}/v1/chat/completions`, { 'x-service-api-key': workspaceKey }, { model, messages: [] })
    t.is(answer.status, 200, answer.text.slice(0, 300))
    const { base64, url } = JSON.parse(answer.text) as Echo
    t.is(url, '/v1/echo/chat/completions')
    t.is((JSON.parse(Buffer.from(base64, 'base64').toString()) as { model: string }).model, model.slice('@bent/'.length))
  })
}

test('a model of two megabytes is refused by its name', async (t) => {
  const model = `@bent/${'('.repeat(2_000_000)}`
  const answer = await sendJson(`${gatehouse.origin}/v1/chat/completions`, { 'x-service-api-key': workspaceKey }, { model, messages: [] })
  t.is(answer.status, 400)
  t.like((JSON.parse(answer.text) as { error: object }).error, { param: 'model', code: 'invalid_request' })
})

for (const reference of [
  '__proto__',
  'constructor',
  '@__proto__',
  '@constructor',
  '@',
  '@@bent',
  '@bent/..',
  '@BENT',
  `@bent' OR '1'='1`,
  `@${'a'.repeat(5000)}`,
]) {
  test(`there is no provider ${reference.slice(0, 20)}`, async (t) => {
    for (const name of ['x-service-provider', 'x-service-virtual-key']) {
      if (name === 'x-service-virtual-key' && reference.startsWith('@@')) continue
      const answer = await send(`${gatehouse.origin}/v1/probe`, { headers: { 'x-service-api-key': workspaceKey, [name]: reference } })
      t.is(answer.status, 400, answer.text)
      t.is(errorOf(answer).code, 'unknown_provider')
    }
  })
}
