// GUARDRAILS_ENABLED=OFF takes default guardrails away wherever they are declared.
import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
test.before(async () => {
  control = await startControl({}, { GUARDRAILS_ENABLED: 'OFF' })
  acme = await control.createTenant('acme')
})
test.after.always(() => control?.close())

test('default guardrails are refused, not shown and not described while guardrails are off', async (t) => {
  for (const [method, path, body] of [
    ['POST', '/admin/workspaces', { name: 'w', defaults: { input_guardrails: ['g'] } }],
    ['PUT', '/admin/workspaces/side', { defaults: { output_guardrails: ['g'] } }],
    ['PUT', '/admin/organisation', { defaults: { input_guardrails: ['g'] } }],
  ] as const) {
    const { status, text } = await control.call(acme.adminKey, method, path, body)
    t.is(status, 400, `${method} ${path}: ${text}`)
    t.regex(text, /put_guardrails`: is off: set GUARDRAILS_ENABLED to ON, or remove it, to turn it on/, `${method} ${path}`)
  }
  t.is((await control.call(acme.adminKey, 'PUT', '/admin/workspaces/side', { defaults: { metadata: { team: 'red' } } })).status, 200)
  t.is((await control.call(acme.adminKey, 'GET', '/admin/organisation')).status, 200)
  const described = (await (await fetch(`${control.origin}/openapi.json`)).json()) as { components: { schemas: Record<string, object> } }
  t.notRegex(JSON.stringify(described.components.schemas['OrganisationDefaults']), /guardrails"/)
})
