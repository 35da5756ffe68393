// Answers use less than is reserved for them: requests that only reservations keep out of a budget wait, and are asked to retry.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

interface Place {
  readonly control: Control
  readonly acme: Tenant
}

const asked = 60
let patient: Place
let hasty: Place
let isHolding = false
let calls = 0
const held: ServerResponse[] = []

/** gpt-4o: 16,000 possible tokens are $0.16, ten real ones are $0.0001. */
const answer = JSON.stringify({
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
})
const finish = (response: ServerResponse) => response.setHeader('content-type', 'application/json').end(answer)

const provider = createServer((request, response) => {
  request.resume()
  calls += 1
  if (isHolding) held.push(response)
  else finish(response)
})

function release(): void {
  isHolding = false
  for (const response of held.splice(0)) finish(response)
}

async function open(env: Readonly<Record<string, string>>): Promise<Place> {
  const control = await startControl({}, env)
  return { control, acme: await control.createTenant('acme') }
}

test.before(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  // Requests wait as long as it takes, or not at all: the speed of a machine decides nothing.
  ;[patient, hasty] = await Promise.all([open({ LIMITS_SETTLE_WAIT: '5m' }), open({ LIMITS_SETTLE_WAIT: '0' })])
})
test.after.always(async () => {
  release()
  await Promise.all([patient?.control.close(), hasty?.control.close()])
  provider.closeAllConnections()
  provider.close()
})

async function makeKey({ control, acme }: Place, usageLimits: object): Promise<string> {
  const body = { name: 'limited', workspace_id: acme.workspaceId, scopes: ['completions.write'], usage_limits: usageLimits }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return String(made.body['key'])
}

const ask = ({ control }: Place, secret: string, most = 16_000) =>
  send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': secret,
      'content-type': 'application/json',
      'x-service-provider': 'openai',
      'x-service-custom-host': `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
      authorization: 'Bearer sk',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_tokens: most }),
  })

for (const [name, limits] of [
  ['dollars', { credit_limit: 1 }],
  ['tokens', { type: 'tokens', credit_limit: 100_000 }],
] as const)
  test.serial(`a budget of ${name}: ${asked} requests at once that may use far more than they do all pass`, async (t) => {
    const secret = await makeKey(patient, limits)
    const answers = await Promise.all(Array.from({ length: asked }, () => ask(patient, secret)))
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  })

test.serial('without waiting they are told what is reserved apart from what is used, and to try again', async (t) => {
  const secret = await makeKey(hasty, { credit_limit: 1 })
  t.is((await ask(hasty, secret)).status, 200)
  isHolding = true
  calls = 0
  let refused = 0
  const answers = await Promise.all(
    Array.from({ length: asked }, async () => {
      const one = await ask(hasty, secret)
      if (one.status === 412 && (refused += 1) === asked - 6) release()
      return one
    }),
  )
  t.is(calls, 6)
  const refusals = answers.filter(({ status }) => status === 412)
  t.is(refusals.length, asked - 6)
  for (const { headers, text } of refusals) {
    t.is(headers['x-should-retry'], 'true')
    t.is(headers['retry-after'], '1')
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; reason: string; limits: { used: number; reserved: number }[] }
    }
    t.like(error, { code: '04', reason: 'reserved' })
    t.regex(
      error.message,
      /^\$0\.999\d* are left of \$1 of the API key, and requests on their way have reserved \$0\.\d+ of it: .*Try again in 1 s/,
    )
    const [limit] = error.limits
    t.true(limit !== undefined && limit.used > 0 && limit.used < 0.001 && limit.reserved > 0.8 && limit.reserved <= 1, text)
  }
  t.is((await ask(hasty, secret)).status, 200, 'the next one fits')
})

test.serial('a request that does not fit beside what is spent is refused for good, whatever is reserved', async (t) => {
  for (const place of [patient, hasty]) {
    const secret = await makeKey(place, { type: 'tokens', credit_limit: 20_000 })
    isHolding = true
    const before = calls
    const first = ask(place, secret)
    await eventually(() => calls > before, 20_000)
    const { status, headers, text } = await ask(place, secret, 30_000)
    t.is(status, 412)
    t.is(headers['x-should-retry'], 'false')
    t.is(headers['retry-after'], undefined)
    t.regex(text, /do not cover this request/)
    release()
    t.is((await first).status, 200)
  }
})
