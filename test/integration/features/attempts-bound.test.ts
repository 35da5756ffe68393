// The bound on the attempts of one request: the bounds in a config, and the real number of calls to providers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { sendJson } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

const most = 10
let control: Control
let acme: Tenant
/** The target of each call, in order. */
let called: string[] = []
const provider = createServer((request, response) => {
  called.push(request.url?.split('/')[1] ?? '')
  request.resume()
  response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}')
})

test.before(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  control = await startControl({}, { MAX_ATTEMPTS_PER_REQUEST: String(most) })
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control.close()
  provider.close()
})

const targets = (count: number, retries = 0, name = 't') =>
  Array.from({ length: count }, (_, at) => ({
    provider: 'openai',
    api_key: 'k',
    custom_host: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/${name}${at}`,
    ...(retries > 0 && { retry: { attempts: retries, on_status_codes: [503] } }),
  }))
const fallback = (list: readonly object[]) => ({ strategy: { mode: 'fallback' }, targets: list })
const balance = (list: readonly object[]) => ({ strategy: { mode: 'loadbalance' }, targets: list })

/** Configs, and how many targets one request of them may try. */
const configs: Readonly<Record<string, { config: () => object; tried: number }>> = {
  'as many in turn': { config: () => fallback(targets(most)), tried: most },
  'one too many in turn': { config: () => fallback(targets(most + 1)), tried: most + 1 },
  'many of which one is chosen': { config: () => balance(targets(100)), tried: 1 },
  'within others': { config: () => fallback([fallback(targets(6)), fallback(targets(5))]), tried: 11 },
  'the largest of those to choose from': { config: () => balance([fallback(targets(11)), ...targets(2)]), tried: 11 },
  'one of many, then others': { config: () => fallback([balance(targets(50)), ...targets(9)]), tried: 10 },
  'with all retries': { config: () => fallback(targets(most, 5)), tried: most },
}

for (const [name, { config, tried }] of Object.entries(configs))
  test.serial(`${name}: a config with more targets than a request has attempts is refused when it is stored`, async (t) => {
    const stored = await control.call(acme.workspaceKey, 'POST', '/configs', { name, config: config() })
    const checked = await control.call(acme.workspaceKey, 'POST', '/configs/validate', { config: config() })
    t.is(stored.status, tried > most ? 400 : 200, stored.text)
    t.is(checked.body['valid'], tried <= most, checked.text)
    if (tried <= most) return
    for (const { text } of [stored, checked]) t.true(text.includes('config.targets') && text.includes(`at most ${most} attempts`), text)
  })

const ask = async (config: object) => {
  called = []
  const headers = { 'x-service-api-key': acme.workspaceKey, 'x-service-config': JSON.stringify(config) }
  await sendJson(`${control.origin}/v1/chat/completions`, headers, { model: 'm', messages: [{ role: 'user', content: 'x' }] })
  return called
}

test.serial('a request makes no more attempts than it may, whatever its config says', async (t) => {
  t.is((await ask(fallback(targets(100, 5)))).length, most)
  t.is((await ask(fallback([fallback(targets(20)), ...targets(20, 0, 'u')]))).length, most)
})

test.serial('retries give way to targets that are not tried yet', async (t) => {
  const all = await ask(fallback(targets(8, 2, 'r')))
  t.is(all.length, most)
  t.is(new Set(all).size, 8)
  t.is(all.filter((target) => target === 'r0').length, 3)
})
