import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { startControl, type Control, type Tenant } from '../features/setup.ts'

/** A process of the control plane alone, as the chart runs it where the gateway is apart. */
let control: Control
let emulator: Emulator
let acme: Tenant

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl({}, { ROLES: 'control' }), startEmulator()])
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  await made('/integrations', { ...account, default_provider_slug: 'p' }, acme.adminKey)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function made(path: string, body: object, key = acme.workspaceKey): Promise<Readonly<Record<string, unknown>>> {
  const { status, text, body: answer } = await control.call(key, 'POST', path, body)
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  return answer
}

test('completes prompts, whose paths a proxy in front cannot tell from those of the control plane', async (t) => {
  const { id: folder } = await made('/collections', { name: 'Folder' })
  const string = '[{"role":"user","content":"Hi {{name}}"}]'
  const prompt = await made('/prompts', { name: 'P', collection_id: folder, string, parameters: {}, virtual_key: 'p', model: 'm' })
  const answer = await control.call(acme.workspaceKey, 'POST', `/prompts/${String(prompt['slug'])}/completions`, {
    variables: { name: 'Ada' },
  })
  t.is(answer.status, 200, answer.text)
  t.like(emulator.requests.at(-1)?.json, { messages: [{ role: 'user', content: 'Hi Ada' }] })
})

test('has no other paths of the data plane', async (t) => {
  for (const path of ['/chat/completions', '/messages', '/models', '/any/path/of/a/provider', '/deployments/a/chat/completions']) {
    const { status, text } = await send(`${control.origin}/v1${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': acme.workspaceKey },
    })
    t.is(status, 404, path)
    t.true(text.includes('ROLES has no gateway'), text)
  }
})
