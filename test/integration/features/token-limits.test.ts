// Tokens may limit their holder: all tokens of a holder share the counts, whichever limits each of them has.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type RawAnswer, send } from '../../support/http.ts'
import { type Issuer, startIssuer } from '../../support/issuer.ts'
import { doctor } from './doctor.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let issuer: Issuer
let acme: Tenant

type Fields = Readonly<Record<string, unknown>>

const withinMs = 15_000
const usage = { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210 }
const answer = JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })

test.before(async () => {
  ;[control, emulator, issuer] = await Promise.all([startControl(), startEmulator(), startIssuer()])
  emulator.script({ behaviour: () => ({ body: answer }) })
  acme = await control.createTenant('acme')
  await control.call(acme.adminKey, 'POST', '/integrations', {
    name: 'p',
    slug: 'p',
    ai_provider_id: 'openai',
    key: 'sk-stored',
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'p',
  })
  const jwt = { jwks_url: issuer.url, issuer: 'https://issuer.example', audience: 'gatehouse' }
  await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { jwt } })
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  issuer?.close()
})

const seconds = () => Math.floor(Date.now() / 1000)

/** Asks with a new token of this holder. */
const ask = (sub: string, limits: Fields): Promise<RawAnswer> =>
  send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-provider': '@p',
      authorization: `Bearer ${issuer.sign({
        iss: 'https://issuer.example',
        aud: 'gatehouse',
        organisation_id: acme.organisationId,
        workspace_slug: 'main',
        sub,
        scope: 'completions.write',
        exp: seconds() + 3600,
        jti: String(Math.random()),
        ...limits,
      })}`,
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_tokens: 200 }),
  })

test('a rate limit of a token holds for its holder, over all tokens, and for nobody else', async (t) => {
  const limits = { rate_limits: { type: 'requests', unit: 'rpd', value: 2 } }
  t.deepEqual([(await ask('hurrier', limits)).status, (await ask('hurrier', limits)).status], [200, 200])
  const refused = await ask('hurrier', limits)
  t.is(refused.status, 429)
  t.regex(refused.text, /2 requests per day of the holder of the token/)
  t.is((await ask('other', limits)).status, 200)
  t.is((await ask('hurrier', { rate_limits: [{ type: 'requests', unit: 'rpd', value: 3 }] })).status, 200, 'what the newer token allows')
})

/** The status of a request of a holder whose token has this budget a month. */
const statusUnder = async (type: string, credit_limit: number) =>
  (await ask(`spender of ${type}`, { usage_limits: { type, credit_limit, periodic_reset: 'monthly' } })).status

for (const [type, credit, asked] of [
  ['requests', 2, 2],
  ['tokens', 450, 2],
] as const)
  test(`a budget of ${type} in a token is used up, raised by another, and is what the logs say`, async (t) => {
    for (let at = 0; at < asked; at += 1) t.is(await statusUnder(type, credit), 200)
    await t.notThrowsAsync(eventually(async () => (await statusUnder(type, credit)) === 412, withinMs))
    await t.notThrowsAsync(eventually(async () => (await statusUnder(type, credit * 100)) === 200, withinMs))
    await t.notThrowsAsync(eventually(isWhole, withinMs))
  })

test('a budget in money counts what the request cost, and its log says of whom', async (t) => {
  const limits = { usage_limits: [{ credit_limit: 1 }, { type: 'tokens', credit_limit: 100_000 }] }
  const { headers, status } = await ask('payer', limits)
  t.is(status, 200)
  const path = `/logs?trace_id=${String(headers['x-service-trace-id'])}`
  let log: Fields | undefined
  await eventually(async () => {
    log = ((await control.call(acme.workspaceKey, 'GET', path)).body['data'] as Fields[])[0]
    return log !== undefined
  }, withinMs)
  const { body } = await control.call(acme.workspaceKey, 'GET', `/logs/${String(log?.['id'])}/cost`)
  const of = { attempt: 0, owner_kind: 'token', owner_id: log?.['api_key_id'], group: null }
  t.deepEqual(body['budgets'], [
    { ...of, type: 'cost', amount: '2025000000' },
    { ...of, type: 'tokens', amount: '210' },
  ])
})

/** Resolves with true when `gatehouse budget doctor` finds that all budgets agree with the logs. */
async function isWhole(): Promise<boolean> {
  const { budgets, left_out, differences } = await doctor(control)
  return budgets > 0 && left_out === 0 && differences.length === 0
}
