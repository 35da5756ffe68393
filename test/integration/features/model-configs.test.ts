import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-lists-'))
let control: Control
let acme: Tenant

test.before(async () => {
  const cents = { 'gpt-4o': { pricing_config: { pay_as_you_go: { request_token: { price: 0.0005 } } } } }
  writeFileSync(path.join(folder, 'openai.json'), JSON.stringify(cents))
  writeFileSync(path.join(folder, 'anthropic.json'), '{"half":')
  control = await startControl({}, { MODEL_CONFIGS_PRICING_LOCAL_PATH: folder, MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH: folder })
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  rmSync(folder, { recursive: true, force: true })
})

const read = (at: string) => control.call(acme.workspaceKey, 'GET', at)

test.serial('a price says which layer has it, in US cents and in whole pico-dollars', async (t) => {
  const own = await read('/model-configs/pricing/openai/gpt-4o')
  t.is(own.status, 200)
  t.like(own.body, { object: 'model.pricing', provider: 'openai', model: 'gpt-4o', source: 'local', as_of: null, currency: 'USD' })
  t.deepEqual(own.body['pay_as_you_go'], { request_token: { price: 0.0005 } })
  t.is(typeof own.body['age_seconds'], 'number')
  t.like(own.body['overrides'], [
    { source: 'built_in', pay_as_you_go: { request_token: { price: 0.000_25 }, response_token: { price: 0.001 } } },
  ])
  const listed = await read('/model-configs/pricing/openai/GPT-4o-mini-2099-01-01')
  t.like(listed.body, { source: 'built_in', model: 'GPT-4o-mini', resolved: 'family', age_seconds: null, free: false, overrides: [] })
  t.like(listed.body['pay_as_you_go'], { request_token: { price: 0.000_015 }, response_token: { price: 0.000_06 } })
  t.like(listed.body['prices'], [{ rates: { input: 150_000, output: 600_000 } }])
})

test.serial('a name with a slash is written %2F; azure knows the models of OpenAI', async (t) => {
  t.like((await read('/model-configs/pricing/groq/openai%2Fgpt-oss-120b')).body, { provider: 'groq', model: 'openai/gpt-oss-120b' })
  t.is((await read('/model-configs/pricing/azure-openai/gpt-35-turbo')).body['resolved'], 'exact')
})

test.serial('an unknown model is 404, and never free', async (t) => {
  const answer = await read('/model-configs/pricing/openai/gpt-of-tomorrow')
  t.is(answer.status, 404)
  t.regex(answer.text, /No price list has the model gpt-of-tomorrow of openai/)
  t.is((await read('/model-configs/general/nobody/m')).status, 404)
})

test.serial('abilities come from the catalogue where the layers have none', async (t) => {
  const answer = await read('/model-configs/general/anthropic/claude-sonnet-4-5')
  t.like(answer.body, { object: 'model.general', source: 'built_in', type: { primary: 'chat' }, limits: { context: 200_000 } })
})

test.serial('the layers tell which of them fails, and why; metrics count it', async (t) => {
  await read('/model-configs/pricing/anthropic/claude-sonnet-4-5')
  const { body } = await read('/prices/layers')
  const layers = body['data'] as Readonly<Record<string, unknown>>[]
  t.deepEqual(
    layers.map(({ kind, name, state }) => `${String(kind)} ${String(name)} ${String(state)}`),
    ['pricing local failing', 'pricing built_in ok', 'general local failing', 'general built_in ok'],
  )
  t.regex(String(layers[0]?.['fault']), /JSON/)
  const builtIn = openBuiltIn()
  const sold = Object.keys(builtIn.providers).filter((provider) => [...(builtIn.file(provider)?.models() ?? [])].length > 0)
  t.is(layers[1]?.['lists'], sold.length, 'providers of which no price is known have no list')
  const { text } = await control.call(acme.workspaceKey, 'GET', '/prices/layers')
  t.notRegex(text, new RegExp(folder))
})
