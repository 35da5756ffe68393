import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type PartnerServer, startPartnerServer } from '../../support/partners/partner-server.ts'
import { type Answer, type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let partners: PartnerServer
let acme: Tenant
let other: Tenant

test.before(async () => {
  ;[control, emulator, partners] = await Promise.all([startControl({}, { LOG_SEALING: 'on' }), startEmulator(), startPartnerServer()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  await chat(acme.workspaceKey, 'a secret')
  await chat(acme.workspaceKey, 'nothing')
  await chat(acme.workspaceKey, 'nothing', { stream: true })
  await chat(acme.sideKey, 'a secret of the side')
  await chat(other.workspaceKey, 'a secret of others')
  for (const [key, count] of [
    [acme.adminKey, 4],
    [other.adminKey, 1],
  ] as const)
    await logged(key, count)
})
test.after.always(async () => {
  partners?.close()
  await Promise.all([control?.close(), emulator?.stop()])
})

async function chat(key: string, content: string, more: object = {}): Promise<void> {
  const response = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more }),
  })
  if (response.status !== 200) throw new Error(await response.text())
  await response.text()
}

/** Logs are written after the answer. */
async function logged(key: string, count: number): Promise<void> {
  for (;;) {
    const { body } = await control.call(key, 'GET', '/logs')
    if ((body['data'] as readonly unknown[]).length === count) return
    await sleep(20)
  }
}

type Body = Readonly<Record<string, unknown>>

const noSecrets = {
  checks: [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }],
  actions: { onFail: 'block' },
}
const tried = (key: string, body: Body): Promise<Answer> => control.call(key, 'POST', '/guardrails/test', { ...noSecrets, ...body })
const resultsOf = ({ body }: Answer) => body['results'] as readonly { readonly log_id: string; readonly denied: boolean }[]

test.serial('a guardrail is tried on the latest logs of its workspace, which are sealed at rest', async (t) => {
  const answer = await tried(acme.workspaceKey, { logs: {} })
  t.is(answer.status, 200, answer.text)
  t.like(answer.body, { object: 'guardrail_log_test', phase: 'input', logs: 3, judged: 3, failed: 1, denied: 1, transformed: 0 })
  t.deepEqual(
    resultsOf(answer).map(({ denied }) => denied),
    [false, false, true],
  )
  t.notRegex(answer.text, /a secret/, 'verdicts, and nothing of what was said')
  t.like((await tried(acme.workspaceKey, { logs: { limit: 2 } })).body, { logs: 2, failed: 0 })
  t.like((await tried(acme.sideKey, { logs: {} })).body, { logs: 1, denied: 1 })
  t.like((await tried(acme.adminKey, { logs: {} })).body, { logs: 4, denied: 2 })
  t.like((await tried(acme.adminKey, { logs: {}, workspace_id: 'side' })).body, { logs: 1 })
  t.like((await tried(other.adminKey, { logs: {} })).body, { logs: 1, denied: 1 })
})

test.serial('answers are tried too, also those that were streams', async (t) => {
  const answer = await tried(acme.workspaceKey, {
    logs: {},
    phase: 'output',
    checks: [{ id: 'default.wordCount', parameters: { minWords: 1, maxWords: 1000 } }],
  })
  t.like(answer.body, { logs: 3, judged: 3, failed: 0 }, answer.text)
})

test.serial('nobody who may not read logs tries a guardrail on them', async (t) => {
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['guardrails.create', 'guardrails.read'] })
  const answer = await tried(key, { logs: {} })
  t.is(answer.status, 403)
  t.regex(answer.text, /lacks the scope logs\.view/)
  for (const wrong of [{ logs: { limit: 101 } }, { logs: {}, text: 'x' }, { logs: { colour: 'red' } }])
    t.is((await tried(acme.workspaceKey, wrong)).status, 400)
})

test.serial('checks that ask somebody have the time of one answer in all, and few trials run at once', async (t) => {
  partners.answer('slow', { hangs: true })
  const parameters = { policyId: '1', timeout: 60_000, credentials: { zscalerApiKey: 'k' }, baseUrl: partners.url('slow') }
  const slow = { logs: {}, checks: [{ id: 'zscaler.zscalerprotect', parameters }] }
  const from = performance.now()
  const waiting = [tried(acme.workspaceKey, slow), tried(acme.adminKey, slow)]
  while (partners.calls('slow').length < 2) await sleep(20)
  const refused = await tried(acme.sideKey, slow)
  t.is(refused.status, 503, refused.text)
  t.regex(refused.text, /Too many trials run/)
  t.like((await tried(other.workspaceKey, { text: 'x' })).body, { verdict: true }, 'others are not kept waiting')
  const [one] = await Promise.all(waiting)
  t.like(one?.body, { judged: 3, failed: 3, denied: 3 }, one?.text)
  t.true(performance.now() - from < 60_000)
})

test.serial('in a trial, checks go where the organisation lets them go', async (t) => {
  const webhook = { checks: [{ id: 'default.webhook', parameters: { webhookURL: partners.url('hook') } }], text: 'x' }
  partners.answer('hook', { body: { verdict: true } })
  t.like((await tried(other.workspaceKey, webhook)).body, { verdict: true })
  await control.call(other.adminKey, 'PUT', '/admin/organisation', { settings: { allowed_custom_hosts: ['*.example.com'] } })
  const answer = await tried(other.workspaceKey, webhook)
  t.like(answer.body, { verdict: false }, answer.text)
  t.regex(answer.text, /allowed_custom_hosts/)
  t.is(partners.calls('hook').length, 1)
})
