import { readFile } from 'node:fs/promises'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson } from '../../support/http.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { slowness } from '../../support/machine.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { ask } from '../../support/tenants.ts'
import { speak } from '../../support/wire.ts'

let emulator: Emulator
let gatehouse: Gatehouse

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'debug', NODE_OPTIONS: '--max-old-space-size=200' } })
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

const target = () => ({ 'x-service-api-key': workspaceKey, 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url })

/** Characters that end a line, a string or a terminal's patience, and texts that a reader of logs could take for a line of its own. */
const forged = '{"level":"info","service":"gatehouse","msg":"forged"}'
const poisons = [
  `a\n${forged}\n`,
  `a\r\n${forged}`,
  `"},${forged},{"a":"`,
  '\u0000',
  'a\u0000b\ud800',
  '\u001b[2J\u001b[31m',
  '\u2028\u2029',
  '=HYPERLINK("http://x")',
  'x'.repeat(100_000),
]

test.serial('nothing that a caller says can end a line of the log, or a row of the table', async (t) => {
  const traces = poisons.map((_, at) => `poisoned-${at}`)
  for (const [at, poison] of poisons.entries()) {
    const metadata = JSON.stringify({ [poison.slice(0, 100)]: poison.slice(0, 5000) }).replaceAll(
      /[\u007f-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    const headers = {
      ...target(),
      'x-service-trace-id': traces[at] ?? '',
      'x-service-metadata': metadata,
      'user-agent': forged,
      referer: forged,
      'x-service-span-name': forged,
    }
    const answer = await sendJson(
      `${gatehouse.origin}/v1/chat/completions?a=${encodeURIComponent(poison.toWellFormed().slice(0, 5000))}`,
      headers,
      {
        model: poison.slice(0, 2048),
        messages: [],
      },
    )
    t.is(answer.status, 200, answer.text.slice(0, 300))
    await send(`${gatehouse.origin}/v1/nothing/${encodeURIComponent(poison.toWellFormed().slice(0, 5000))}`, {
      headers: { 'user-agent': forged },
    })
    await ask(gatehouse, adminKey, { path: `/integrations/${encodeURIComponent(poison.toWellFormed().slice(0, 5000))}` })
  }
  for (const trace of traces) {
    const logged = async () =>
      (JSON.parse((await ask(gatehouse, workspaceKey, { path: `/logs?trace_id=${trace}` })).text) as { data: { ai_model: string }[] }).data
    await eventually(async () => (await logged()).length === 1, 10_000, trace)
    t.true(((await logged())[0]?.ai_model.length ?? 0) <= 255)
  }
  const lines = gatehouse
    .output()
    .split('\n')
    .filter((line) => line.includes('level'))
  t.true(lines.length > poisons.length * 3)
  for (const line of lines) {
    const parsed = JSON.parse(line) as { msg?: string; service?: string }
    t.is(parsed.service, 'gatehouse')
    t.not(parsed.msg, 'forged')
    t.true(line.length < 20_000, `${line.length}`)
  }
})

const account = { client_email: 'a@b', private_key: 'pem', 'a\u0000b': 'c\u0000\ud800', nested: { '\ud800': ['\u0000'] } }

/** Asked for by those who hold a key, and never a fault of ours. */
const ends: readonly (readonly [name: string, request: { method?: string; path: string; body?: unknown }, status: number])[] = [
  ['a log of the year 10889', { path: '/logs/ffffffff-ffff-7fff-bfff-ffffffffffff' }, 404],
  ['a log of 1970', { path: '/logs/00000000-0000-7000-8000-000000000000' }, 404],
  [
    'a page after the year 33658',
    { path: `/logs?after=${Buffer.from('999999999999999.01a1fd2b-ca2c-79e4-b588-a7c552a7c85a').toString('base64url')}` },
    200,
  ],
  ['logs since the year 0', { path: '/logs?time_of_generation_min=0000-01-01T00:00:00Z' }, 200],
  ['logs until the last second', { path: '/logs?time_of_generation_max=9999-12-31T23:59:59-12:00' }, 200],
  [
    'a key that outlives the calendar',
    {
      method: 'POST',
      path: '/api-keys/workspace/service',
      body: { name: 'k', scopes: ['logs.list'], expires_at: '9999-12-31T23:59:59-12:00' },
    },
    400,
  ],
  [
    'metadata without end',
    {
      method: 'POST',
      path: '/api-keys/workspace/service',
      body: {
        name: 'k',
        scopes: ['logs.list'],
        defaults: { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, 'v'])) },
      },
    },
    400,
  ],
  [
    'a document with NULs',
    {
      method: 'POST',
      path: '/integrations',
      body: {
        name: 'v',
        ai_provider_id: 'vertex-ai',
        configurations: { vertex_auth_type: 'serviceAccount', vertex_region: 'global', vertex_service_account_json: account },
      },
    },
    200,
  ],
  ['a name with a NUL', { method: 'POST', path: '/integrations', body: { name: 'a\u0000', ai_provider_id: 'openai' } }, 400],
  ['a page beyond the last', { path: '/api-keys?current_page=1000000&page_size=100' }, 200],
  ['a filter with every quote', { path: `/logs?metadata=${encodeURIComponent(JSON.stringify({ 'a\'?\\"': 'b\'?\\"$1' }))}` }, 200],
  ['a name with every wildcard', { path: `/workspaces?name=${encodeURIComponent("%'_\\?'??$1")}` }, 200],
]

for (const [name, request, status] of ends) {
  test(name, async (t) => {
    const answer = await ask(gatehouse, adminKey, request)
    t.is(answer.status, status, answer.text)
  })
}

const hosts = ['evil.example', 'evil.example:80', 'gatehouse@evil.example', '"><script>evil</script>', 'evil.example/../..']
const claims = {
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'evil',
  forwarded: 'host=evil.example;for=6.6.6.6',
  'x-forwarded-for': '6.6.6.6',
  referer: 'http://evil.example/',
  'x-original-url': '/evil',
  'x-rewrite-url': '/evil',
}

test('no answer repeats a host that the client claims, or believes where the client says it is', async (t) => {
  const lines = Object.entries(claims).map(([name, value]) => `${name}: ${value}\r\n`)
  for (const host of hosts) {
    for (const path of [
      '/',
      '/docs',
      '/docs/',
      '/openapi.json',
      '/readyz',
      '/metrics',
      '/v1/health',
      '/v1/api-keys',
      '/v1/nothing',
      '/nothing',
      '//evil.example',
      '/\\evil.example',
      '/%0d%0alocation:%20http://evil.example/',
    ]) {
      const { text, answers } = await speak(
        gatehouse.origin,
        `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${lines.join('')}\r\n`,
      )
      t.is(answers.length, 1, text)
      const [answer] = answers
      t.notRegex(answer?.head ?? '', /evil/i, `${path} ${host}`)
      if (!path.includes('evil')) t.notRegex(text, /evil/i, `${path} ${host}`)
      t.true((answer?.status ?? 500) < 500)
    }
  }
  t.notRegex(gatehouse.output(), /6\.6\.6\.6/)
})

test('the pages take nothing from elsewhere, and are nothing to be framed', async (t) => {
  const page = await send(`${gatehouse.origin}/docs`)
  t.regex(String(page.headers['content-security-policy']), /^default-src 'none'; script-src 'self'; style-src 'self'/)
  t.notRegex(String(page.headers['content-security-policy']).replace("img-src 'self' data:", ''), /unsafe|\*|https?:|data:/)
  t.is(page.headers['x-frame-options'], 'DENY')
  t.is(page.headers['x-content-type-options'], 'nosniff')
  t.notRegex(page.text, /<script(?![^>]*\bsrc="\/docs\/)|\son\w+=|javascript:|https?:\/\//i)
})

const cpuMs = async () => {
  const fields = (await readFile(`/proc/${gatehouse.process.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** CPU milliseconds of the cheapest of a few rounds: the additions of a busy machine or a job in the background are not the cost of a request. */
async function cheapest(rounds: number, round: () => Promise<unknown>): Promise<number> {
  let least = Infinity
  for (let turn = 0; turn < rounds; turn++) {
    const before = await cpuMs()
    await round()
    least = Math.min(least, (await cpuMs()) - before)
  }
  return least
}

test.serial('strangers cost little: no more than 5 ms of CPU a request', async (t) => {
  for (const size of [1000, 16_000]) {
    for (const path of [
      '/',
      '/docs',
      '/openapi.json',
      '/readyz',
      '/metrics',
      '/v1/health',
      '/v1/api-keys',
      '/v1/chat/completions',
      '/v1/messages',
      `/v1/${'a/'.repeat(size / 4)}`,
    ]) {
      const once = () =>
        send(`${gatehouse.origin}${path}`, { headers: { 'x-a': 'a'.repeat(size), 'x-service-api-key': `gh-${'a'.repeat(size)}` } })
      // Values that are made once, at the first request for them, are not the cost of a request.
      await once()
      const requests = Array.from({ length: 20 })
      const cpu = await cheapest(3, () => inParallel(requests, 8, once))
      t.true(cpu < requests.length * 5 * slowness(), `${path} with ${size} bytes: ${cpu} ms for ${requests.length} requests`)
    }
  }
})

/** Bodies of 2 MB, and a path of 60 KB, that a careless check takes minutes for. */
const heavy: Readonly<Record<string, () => Promise<{ readonly status: number; readonly text: string }>>> = {
  'a value that looks like a token at every turn': () =>
    create('/integrations', { name: ['-eyJaaaaaaaa'.repeat(160_000)], ai_provider_id: 'openai' }),
  'a million scopes': () => create('/api-keys/workspace/service', { name: 'k', scopes: Array.from({ length: 1_000_000 }, () => 1) }),
  'half a million rate limits': () =>
    create('/virtual-keys', { name: 'k', provider: 'openai', rate_limits: Array.from({ length: 500_000 }, () => ({})) }),
  'a hundred thousand configurations': () =>
    create('/integrations', { name: 'k', ai_provider_id: 'openai', configurations: numbered(100_000, 'k') }),
  'a hundred thousand headers': () =>
    create('/integrations', { name: 'k', ai_provider_id: 'openai', configurations: { custom_headers: numbered(100_000, 'h') } }),
  'a query of question marks': () =>
    send(`${gatehouse.origin}/v1/x?${'?'.repeat(15_000)}`, { headers: { ...target(), 'x-emulate': 'unauthorized' } }),
}

const create = (path: string, body: unknown) => ask(gatehouse, adminKey, { method: 'POST', path, body })
const numbered = (length: number, prefix: string) => Object.fromEntries(Array.from({ length }, (_, at) => [`${prefix}${at}`, '1']))

for (const [name, bring] of Object.entries(heavy)) {
  test.serial(`${name} costs less than two seconds`, async (t) => {
    const before = await cpuMs()
    const { status, text } = await bring()
    t.true([400, 401, 413].includes(status), `${status} ${text.slice(0, 300)}`)
    t.true(text.length < 5000, `${text.length}`)
    const cost = (await cpuMs()) - before
    t.true(cost < 2000 * slowness(), `${cost} ms`)
  })
}

test.serial('strangers leave nothing behind: their header names, were they kept, would burst the heap', async (t) => {
  const requests = Array.from({ length: 1700 }, (_, at) => ({ headers: { [`x-${at}-${'N'.repeat(60_000)}`]: 'v' } }))
  await inParallel(requests, 8, (request) => send(`${gatehouse.origin}/v1/chat/completions`, request))
  t.is((await send(`${gatehouse.origin}/healthz`)).status, 200)
  t.is(gatehouse.process.exitCode, null)
})
