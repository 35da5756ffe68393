import test from 'ava'
import type { Subject } from '../../../src/gateway/checks/check.ts'
import type { HookResults } from '../../../src/gateway/checks/hook-results.ts'
import { partnerChecks } from '../../../src/gateway/checks/partners/all.ts'
import { findCheck } from '../../../src/gateway/checks/registry.ts'
import type { Egress, SmallRequest } from '../../../src/gateway/egress/egress.ts'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RawAnswer, send } from '../../support/http.ts'
import { answered, asked, type PartnerFixture } from '../../support/partners/fixture.ts'
import { fixturesFromAToL } from '../../support/partners/fixtures-a-l.ts'
import { fixturesFromMToZ } from '../../support/partners/fixtures-m-z.ts'
import { type PartnerServer, type Script, startPartnerServer } from '../../support/partners/partner-server.ts'

const fixtures = [...fixturesFromAToL, ...fixturesFromMToZ]

let emulator: Emulator
let bed: GatewayBed
let partners: PartnerServer

test.before(async () => {
  ;[emulator, partners] = await Promise.all([startEmulator(), startPartnerServer()])
  bed = await startGateway({ providers: { p: { customHost: emulator.url } } })
})
test.after.always(async () => {
  partners?.close()
  await bed?.stop()
  await emulator?.stop()
})

interface Asked {
  readonly phase?: 'input' | 'output'
  readonly parameters?: object
  readonly guardrail?: object
  readonly body?: object
  /** The service that is called; a script of its own for each call. */
  readonly who?: string
}

const question = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] })

function ask(
  id: string,
  { phase = 'input', parameters = {}, guardrail = { deny: true }, body = question(asked), who = id }: Asked,
): Promise<RawAnswer> {
  const checks = [{ id, parameters: { baseUrl: partners.url(who), timeout: 30_000, ...parameters } }]
  const config = { provider: '@p', [`${phase}_guardrails`]: [{ checks, ...guardrail }] }
  return send(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(config) },
    body: JSON.stringify(body),
  })
}

const checkIn = ({ text }: RawAnswer) => {
  const { before_request_hooks: before, after_request_hooks: after } = (JSON.parse(text) as { hook_results: HookResults }).hook_results
  return [...before, ...after][0]?.checks[0]
}

test.serial('every check that asks a partner has a fixture', (t) => {
  const transformers = ['exa.online']
  t.deepEqual([...fixtures.map(({ id }) => id), ...transformers].toSorted(), partnerChecks.map(({ id }) => id).toSorted())
  t.is(partnerChecks.length, 49)
})

const real = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
test.after.always(() => real.close())

/** A check alone, on some texts. */
async function run({ id, phase }: PartnerFixture, parameters: object, { egress = real, texts, timeoutMs = 30_000 }: Running) {
  const check = findCheck(id)
  if (check === null) throw new Error(id)
  const role = phase === 'input' ? 'user' : 'assistant'
  const subject: Subject = {
    phase,
    parts: texts.map((text, at) => ({ path: ['messages', at, 'content'], role, text })),
    request: {
      json: question(asked),
      method: 'POST',
      path: '/chat/completions',
      operation: 'chatComplete',
      dialect: 'openai-chat',
      prompted: false,
      stream: false,
      model: 'm',
      models: () => ['m'],
      provider: 'openai',
      metadata: {},
      header: () => undefined,
    },
    response: phase === 'input' ? null : { json: {}, status: 200 },
  }
  const context = { organisationId: '', credentials: () => null, egress, now: Date.now, timeoutMs, passesCredentials: false }
  return check.ready(check.parameters.parse(parameters)).run(subject, context)
}

/** Text in the address of the service itself, and not in the path behind it. */
const prefixOf = ({ id }: PartnerFixture) => (id.startsWith('crowdstrike') ? '/aidr/aiguard' : id.startsWith('service.') ? '/v1' : '')

interface Running {
  readonly egress?: Egress
  readonly texts: readonly string[]
  readonly timeoutMs?: number
}

/** A check's request when no other address is given, caught at the egress. */
async function callOf(fixture: PartnerFixture, text: string): Promise<SmallRequest | undefined> {
  const sent: SmallRequest[] = []
  const egress: Egress = { ...real, exchange: (request) => (sent.push(request), Promise.reject(new Error('caught'))) }
  await run(fixture, fixture.parameters, { egress, texts: [text] }).catch(() => null)
  return sent[0]
}

const reasons: readonly (readonly [name: string, script: Script, says: RegExp])[] = [
  ['malformed', { body: '{"action":' }, /gave an answer of another shape than expected\.$/],
  ['another shape', { body: { hello: 'world' } }, /another shape than expected|has no scanner/],
  ['an error', { status: 503, body: '{}' }, / answered 503\.$/],
  ['no answer', { hangs: true }, /did not answer (?:completely )?within/],
]

for (const [awsRegion, host] of [
  ['cn-north-1', 'bedrock-runtime.cn-north-1.amazonaws.com.cn'],
  ['us-gov-west-1', 'bedrock-runtime.us-gov-west-1.amazonaws.com'],
  ['eusc-de-east-1', 'bedrock-runtime.eusc-de-east-1.amazonaws.eu'],
] as const)
  test.serial(`a guardrail of Bedrock is asked in the partition of its region: ${awsRegion}`, async (t) => {
    const credentials = { awsAccessKeyId: 'AKIDEXAMPLE', awsSecretAccessKey: 'secret', awsRegion }
    const calls = await Promise.all(
      fixtures
        .filter(({ id }) => id === 'bedrock.guard')
        .map((fixture) => callOf({ ...fixture, parameters: { ...fixture.parameters, credentials } }, asked)),
    )
    t.deepEqual(
      calls.map((call) => call && new URL(call.url).host),
      [host],
    )
  })

for (const fixture of fixtures) {
  const { id, phase, parameters } = fixture
  const said = phase === 'input' ? asked : answered
  const isShort = id === 'azure.protectedMaterial'
  const text = isShort ? said.repeat(10) : said

  test.serial(`${id}: the call`, async (t) => {
    const call = await callOf(fixture, text)
    t.is(call?.url, fixture.url)
    for (const [name, value] of Object.entries(fixture.headers))
      if (typeof value === 'string') t.is(call?.headers[name], value)
      else t.regex(String(call?.headers[name]), value)
    t.like(JSON.parse(call?.body ?? ''), fixture.body)
    t.is(call?.headers['content-type'], 'application/json')
  })

  test.serial(`${id}: what the partner says, and what goes wrong`, async (t) => {
    for (const [name, body, passed] of [
      ['pass', fixture.pass, true],
      ['fail', fixture.fail, false],
    ] as const) {
      const who = encodeURIComponent(`${id} ${name}`)
      partners.answer(who, { body })
      const verdict = await run(fixture, { ...parameters, baseUrl: partners.url(who) }, { texts: [text] })
      t.is(verdict.passed, passed, JSON.stringify(verdict))
      t.deepEqual(verdict.edits, [])
      t.is(partners.calls(who)[0]?.path, new URL(fixture.url).href.slice(new URL(fixture.url).origin.length).replace(prefixOf(fixture), ''))
    }
    await Promise.all(
      reasons.map(async ([name, script, says]) => {
        const who = encodeURIComponent(`${id} ${name}`)
        partners.answer(who, script)
        const running = run(
          fixture,
          { ...parameters, baseUrl: partners.url(who) },
          { texts: [text], timeoutMs: script.hangs ? 25 : 30_000 },
        )
        const error = await t.throwsAsync(running, { message: says }, name)
        for (const secret of ['partner-key', said]) t.false(error?.message.includes(secret))
      }),
    )
  })

  if (!isShort)
    test.serial(`${id}: through the gateway`, async (t) => {
      for (const [name, body, status] of [
        ['passes', fixture.pass, 200],
        ['fails', fixture.fail, 446],
      ] as const) {
        const who = encodeURIComponent(`${id} ${name}`)
        partners.answer(who, { body })
        const answer = await ask(id, { phase, parameters, who })
        t.is(answer.status, status, answer.text)
        t.is(checkIn(answer)?.verdict, status === 200)
        t.false(answer.text.includes('partner-key'))
      }
    })

  const { changed } = fixture
  if (changed !== undefined)
    test.serial(`${id}: texts are changed`, async (t) => {
      const who = encodeURIComponent(`${id} changes`)
      partners.answer(who, { body: changed.answer })
      const marked = { ...question(asked), user: id }
      const answer = await ask(id, { phase, parameters: { ...parameters, ...changed.parameters }, who, body: marked })
      t.is(answer.status, 200, answer.text)
      t.true(checkIn(answer)?.transformed, answer.text)
      if (phase === 'input') {
        const sent = emulator.requests.map(({ json }) => json as Record<string, unknown>).find((json) => json['user'] === id)
        t.deepEqual(sent?.['messages'], [{ role: 'user', content: changed.text }])
      } else t.is((JSON.parse(answer.text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content, changed.text)
    })
}

test.serial('what on_error says counts when a partner fails', async (t) => {
  partners.answer('down', { status: 500 })
  partners.answer('hanging', { hangs: true })
  const id = 'zscaler.zscalerprotect'
  const given = { policyId: '1', credentials: { zscalerApiKey: 'partner-key' } }
  for (const [who, more] of [
    ['down', {}],
    ['hanging', { timeout: 50 }],
  ] as const) {
    const allowed = await ask(id, { who, parameters: { ...given, ...more, on_error: 'allow' } })
    t.is(allowed.status, 200)
    t.regex(checkIn(allowed)?.error?.message ?? '', /answered 500|within|longer than/)
    for (const on of [{}, { on_error: 'deny' }, { failOnError: true }])
      t.is((await ask(id, { who, parameters: { ...given, ...more, ...on } })).status, 446)
    t.is((await ask(id, { who, parameters: { ...given, ...more, on_error: 'deny' }, guardrail: { deny: false } })).status, 246)
  }
})

test.serial('policyId is required, and the time is 10 s unless said otherwise', async (t) => {
  const check = findCheck('zscaler.zscalerprotect')
  t.is(check?.since, '1.12.0')
  t.is(check?.timeoutMs, 10_000)
  const missing = await ask('zscaler.zscalerprotect', { parameters: { credentials: { zscalerApiKey: 'k' } } })
  t.is(missing.status, 400)
  t.regex(missing.text, /policyId/)
  t.is(check?.parameters.parse({ policyId: 'p', credentials: { zscalerApiKey: 'k' } })['timeout'], 10_000)
})

test.serial('a long text goes in pieces, and one bad piece is enough', async (t) => {
  const pieces: string[] = []
  partners.answer('long', ({ body }) => {
    pieces.push(String(body['userPrompt']))
    return { userPromptAnalysis: { attackDetected: String(body['userPrompt']).includes('attack') } }
  })
  const parameters = { credentials: { contentSafety: { resourceName: 'acme', apiKey: 'k' } } }
  const padded = `${'a'.repeat(9999)}\u{1f600}${'b'.repeat(9000)} attack`
  t.is((await ask('azure.shieldPrompt', { who: 'long', parameters, body: question(padded) })).status, 446)
  t.deepEqual(new Set(pieces.map(({ length }) => length)).symmetricDifference(new Set([9009, 9999])).size, 0)
  t.is((await ask('azure.shieldPrompt', { who: 'long', parameters, body: question('b'.repeat(30_000)) })).status, 200)
  t.is(
    (
      await ask('azure.shieldPrompt', {
        who: 'long',
        parameters: { ...parameters, on_error: 'deny' },
        body: question('b'.repeat(1_000_001)),
      })
    ).status,
    446,
  )
})

const messagesIn = (json: unknown) => (json as { messages: { content: string }[] }).messages

test.serial('each text is changed by itself, and one that the partner left out is an error', async (t) => {
  const messages = ['one 1', 'two', 'three 3'].map((content) => ({ role: 'user', content }))
  const body = { model: 'm', user: 'each', messages }
  partners.answer('each', ({ body: { text } }) => ({
    result: { count: /\d/.test(String(text)) ? 1 : 0, redacted_text: String(text).replace(/\d/, '#') },
  }))
  const pangea = { redact: true, credentials: { apiKey: 'k', domain: 'aws.us.pangea.cloud' } }
  t.is((await ask('pangea.pii', { who: 'each', parameters: pangea, body })).status, 200)
  const sent = emulator.requests.map(({ json }) => json as Record<string, unknown>).find((json) => json['user'] === 'each')
  t.deepEqual(
    messagesIn(sent).map(({ content }) => content),
    ['one #', 'two', 'three #'],
  )
  partners.answer('few', { body: { result: { blocked: false, transformed: true, guard_output: { messages: [{ content: 'x' }] } } } })
  const few = {
    who: 'few',
    parameters: { redact: true, on_error: 'deny', credentials: { apiKey: 'k', baseUrl: partners.url('few') } },
    body,
  }
  const answer = await ask('crowdstrike-aidr.guardChatCompletions', few)
  t.is(answer.status, 446)
  t.regex(checkIn(answer)?.error?.message ?? '', /another number of texts/)
})

const web = { results: [{ title: 'A page', url: 'https://a.test', text: 'Facts.', publishedDate: '2026-01-02' }] }

test.serial('exa.online adds what it finds on the web', async (t) => {
  partners.answer('exa', { body: web })
  const parameters = { credentials: { apiKey: 'partner-key' }, prefix: '<w>', suffix: '</w>', numResults: 2, includeDomains: ['a.test'] }
  const context = '<w>\n[1] "A page"\nURL: https://a.test\nDate: 2026-01-02\nFacts.\n</w>'
  const system = [{ role: 'system', content: 'Be good.' }, ...question('Who?').messages]
  const cases: readonly (readonly [string, object, unknown])[] = [
    ['exa-1', question('Who?'), [{ role: 'system', content: context }, ...question('Who?').messages]],
    ['exa-2', { model: 'm', messages: system }, [{ role: 'system', content: `Be good.${context}` }, ...question('Who?').messages]],
  ]
  for (const [user, body, messages] of cases) {
    const answer = await ask('exa.online', { who: 'exa', parameters, body: { ...body, user } })
    t.is(answer.status, 200, answer.text)
    const sent = emulator.requests.map(({ json }) => json as Record<string, unknown>).find((json) => json['user'] === user)
    t.deepEqual(sent?.['messages'], messages)
    t.deepEqual(checkIn(answer)?.data?.['sources'], [{ title: 'A page', url: 'https://a.test' }])
  }
  const [call] = partners.calls('exa')
  t.is(call?.path, '/search')
  t.is(call?.headers['x-api-key'], 'partner-key')
  t.deepEqual(call?.body, { query: 'Who?', numResults: 2, contents: { text: true }, includeDomains: ['a.test'] })
  partners.answer('exa', { status: 500 })
  t.is((await ask('exa.online', { who: 'exa', parameters: { ...parameters, on_error: 'deny' } })).status, 446)
})

test.serial('a stream is held until the partner has judged it', async (t) => {
  partners.answer('stream', { body: { action: 'BLOCK' } })
  const parameters = { policyId: 1, credentials: { zscalerApiKey: 'k' } }
  const denied = await ask('zscaler.zscalerprotect', {
    phase: 'output',
    who: 'stream',
    parameters,
    body: { ...question(asked), stream: true },
  })
  t.is(denied.status, 446)
  t.false(denied.text.includes('Hello'))
  partners.answer('stream', { body: { action: 'ALLOW' } })
  const passed = await ask('zscaler.zscalerprotect', {
    phase: 'output',
    who: 'stream',
    parameters,
    body: { ...question(asked), stream: true },
  })
  t.is(passed.status, 200)
  t.regex(passed.text, /\[DONE\]/)
})

test.serial('a token of Entra stands in place of a key', async (t) => {
  const sent: SmallRequest[] = []
  const egress: Egress = {
    ...real,
    exchange: (request) => {
      sent.push(request)
      const text = request.url.includes('login.microsoftonline.com')
        ? '{"access_token":"entra-token","expires_in":3600,"token_type":"Bearer"}'
        : '{"userPromptAnalysis":{"attackDetected":false}}'
      return Promise.resolve({ status: 200, headers: {}, bytes: Buffer.from(text), text })
    },
  }
  const fixture = fixtures.find(({ id }) => id === 'azure.shieldPrompt')
  if (fixture === undefined) throw new Error('no fixture')
  const account = { resourceName: 'acme', azureAuthMode: 'entra', tenantId: 'tenant-1', clientId: 'c', clientSecret: 's' }
  for (let i = 0; i < 2; i += 1)
    t.true((await run(fixture, { credentials: { contentSafety: account } }, { egress, texts: [asked] })).passed)
  t.deepEqual(
    sent.map(({ url }) => new URL(url).host),
    ['login.microsoftonline.com', 'acme.cognitiveservices.azure.com', 'acme.cognitiveservices.azure.com'],
  )
  t.is(sent[1]?.headers['authorization'], 'Bearer entra-token')
})
