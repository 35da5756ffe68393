// Work whose cost never reaches Gatehouse is never shown as free, and passes no budget that must know it before.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator

type Fields = Readonly<Record<string, unknown>>

const withinMs = 15_000

async function made(key: string, path: string, body: object): Promise<Fields> {
  const response = await control.call(key, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({ behaviour: { status: 200, body: '{"id":"x","value":"ek_1"}' } })
  const configurations = { custom_host: emulator.url }
  await made(acme.workspaceKey, '/integrations', { name: 'p', slug: 'account', ai_provider_id: 'openai', key: 'sk-x', configurations })
  await made(acme.workspaceKey, '/providers', { name: 'p', slug: 'p', integration_id: 'account' })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const keyWith = (on_unpriced: 'allow' | 'deny') => keyUnder({ type: 'cost', credit_limit: 1, on_unpriced })

async function keyUnder(usage_limits: object): Promise<string> {
  const { key } = await made(acme.adminKey, '/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits,
  })
  return String(key)
}

const ask = (key: string, path: string, body?: object) =>
  send(`${control.origin}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': '@p', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

/** Returns the cost of a request as its log has it. */
async function costOf({ headers }: Awaited<ReturnType<typeof send>>): Promise<Fields> {
  const read = () => control.call(acme.workspaceKey, 'GET', `/logs/${String(headers['x-service-request-id'])}/cost`)
  await eventually(async () => (await read()).status === 200, withinMs)
  return (await read()).body
}

/** Work whose cost never reaches Gatehouse, at the paths of its providers: [path, method]. */
const unseen: readonly (readonly [path: string, method?: 'GET'])[] = [
  ['/realtime/client_secrets'],
  ['/realtime/sessions'],
  ['/realtime/calls'],
  ['/realtime/calls/rtc_1/accept'],
  ['/realtime/transcription_sessions'],
  ['/realtime/translations/client_secrets'],
  ['/proxy/realtimeapi/sessions'],
  ['/chatkit/sessions'],
  ['/proxy/v1alpha/auth_tokens'],
  ['/proxy/auth/grant'],
  ['/proxy/single-use-token/realtime_scribe'],
  ['/proxy/convai/conversation/get-signed-url?agent_id=a', 'GET'],
  ['/proxy/video_generation'],
  ['/proxy/video/submit'],
  ['/proxy/video/generations/jobs?api-version=preview'],
  ['/proxy/services/aigc/video-generation/video-synthesis'],
  ['/proxy/async-invoke'],
  ['/proxy/v1beta/models/gemini-2.5-flash:batchGenerateContent'],
  ['/proxy/batch/jobs'],
  // PR #37077: a batch of Bedrock at $0
  ['/proxy/model-invocation-job'],
  ['/proxy/model-customization-jobs'],
  ['/proxy/evaluation-jobs'],
]

for (const [path, method] of unseen)
  test.serial(
    `of ${path} nobody here sees what it uses: its log is unpriced, and a budget that wants to know before refuses it`,
    async (t) => {
      const body = method === 'GET' ? undefined : { model: 'a-model', session: { type: 'realtime', model: 'gpt-realtime' } }
      const before = emulator.requests.length
      const refused = await ask(await keyWith('deny'), path, body)
      t.is(refused.status, 412, refused.text)
      t.like(JSON.parse(refused.text), { error: { reason: 'unpriced_job' } })
      t.is(emulator.requests.length, before, 'the provider was not asked')
      const allowed = await ask(await keyWith('allow'), path, body)
      t.is(allowed.status, 200, allowed.text)
      t.like(await costOf(allowed), { state: 'unpriced', cost_pico_usd: null, total_pico_usd: null, lines: [] })
    },
  )

test.serial('a session that the provider refused costs nothing', async (t) => {
  const stop = emulator.script({ behaviour: { status: 400, body: '{"error":{"message":"no"}}' } })
  const refused = await ask(await keyWith('allow'), '/realtime/client_secrets', {})
  stop()
  t.is(refused.status, 400)
  t.like(await costOf(refused), { state: 'not_charged', cost_pico_usd: '0' })
})

/** Answers that repeat earlier usage, to requests that read or change it. */
const toldAgain: readonly (readonly [method: 'GET' | 'POST', path: string])[] = [
  ['POST', '/responses/resp_0/cancel'],
  ['POST', '/batches/batch_0/cancel'],
  ['POST', '/messages/batches/msgbatch_0/cancel'],
  ['POST', '/proxy/openai/v1/responses/resp_0/cancel'],
  ['POST', '/proxy/chat/completions/chatcmpl-0'],
  ['POST', '/proxy/threads/thread_0/runs/run_0'],
  ['POST', '/proxy/threads/thread_0/runs/run_0/cancel'],
  ['POST', '/proxy/fine_tuning/jobs/ftjob-0/pause'],
  ['POST', '/responses/input_tokens'],
  ['GET', '/responses/resp_0'],
  ['GET', '/batches/batch_0'],
  ['GET', '/proxy/threads/thread_0/runs/run_0'],
]

for (const [method, path] of toldAgain)
  test.serial(`what an answer tells again costs nothing, and counts in no limit of tokens: ${method} ${path}`, async (t) => {
    const usage = { prompt_tokens: 900, input_tokens: 900, completion_tokens: 100, output_tokens: 100, total_tokens: 1000 }
    const body = JSON.stringify({ id: 'x', model: 'gpt-4o', status: 'cancelled', usage })
    const stop = emulator.script({ method, path: path.replace('/proxy', ''), behaviour: { status: 200, body } })
    const key = await keyUnder({ type: 'tokens', credit_limit: 1000 })
    const answer = await ask(key, path, method === 'POST' ? { model: 'gpt-4o', input: 'hi', metadata: {} } : undefined)
    stop()
    t.is(answer.status, 200, answer.text)
    t.true(answer.text.includes('1000'))
    const id = String(answer.headers['x-service-request-id'])
    const rows = async () =>
      (
        await control.sql.query(
          `SELECT l.input_tokens, l.output_tokens, l.total_tokens, l.cost_pico::text AS cost_pico, l.cost_state
             FROM logs l WHERE l.id = $1`,
          [id],
        )
      ).rows
    const nothing = { input_tokens: null, output_tokens: null, total_tokens: null, cost_pico: '0', cost_state: 'not_charged' }
    await eventually(async () => (await rows()).length === 1, withinMs, 'its log')
    t.like((await rows())[0], nothing)
    const spoken = await ask(key, '/chat/completions', { model: 'gpt-4o', max_tokens: 900, messages: [] })
    t.is(spoken.status, 200, 'the whole budget is left')
  })

/** Edits of an image by forms, whose provider a header names: with a budget of a dollar that must know the cost before, and one that does not. */
const forms: Readonly<
  Record<string, { fields: Readonly<Record<string, string | readonly string[]>>; denied: number; allowed: number; reason?: string }>
> = {
  // 1,600 x 10,000,000 of the picture, and 2 x 6,240 x 40,000,000 of the result
  'two images': { fields: { model: 'gpt-image-1', prompt: 'a hat', n: '2' }, denied: 200, allowed: 200 },
  // 5 x 6,240 x 40,000,000
  'more images than the budget has money for': { fields: { model: 'gpt-image-1', prompt: 'a hat', n: '5' }, denied: 412, allowed: 412 },
  'a model without a price': { fields: { model: 'nobody-knows', prompt: 'a hat' }, denied: 412, allowed: 200, reason: 'unpriced_model' },
  'two numbers of images, the larger first': {
    fields: { model: 'gpt-image-1', prompt: 'a hat', n: ['5', '1'] },
    denied: 412,
    allowed: 412,
  },
  // Refused as ambiguous, before a price is looked for.
  'two models': { fields: { model: ['gpt-image-1-mini', 'gpt-image-1'], prompt: 'a hat' }, denied: 400, allowed: 400 },
  'no model': { fields: { prompt: 'a hat' }, denied: 412, allowed: 200, reason: 'unpriced_model' },
}

async function edit(key: string, fields: (typeof forms)[string]['fields']) {
  const form = new FormData()
  form.set('image', new File([Buffer.alloc(300_000, 7)], 'a.png', { type: 'image/png' }))
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) form.append(name, value)
  const headers = { 'x-service-api-key': key, 'x-service-provider': '@p' }
  const answer = await fetch(`${control.origin}/v1/images/edits`, { method: 'POST', headers, body: form })
  return { status: answer.status, text: await answer.text() }
}

for (const [name, { fields, denied, allowed, reason }] of Object.entries(forms))
  test.serial(`an edit of an image by a form is estimated like others: ${name}`, async (t) => {
    for (const [on_unpriced, status] of [
      ['deny', denied],
      ['allow', allowed],
    ] as const) {
      const before = emulator.requests.length
      const answer = await edit(await keyWith(on_unpriced), fields)
      t.is(answer.status, status, answer.text)
      t.is(emulator.requests.length - before, status === 200 ? 1 : 0)
      if (status === 200) t.true((emulator.requests.at(-1)?.body.length ?? 0) > 300_000, 'the form goes on whole')
      else t.is((JSON.parse(answer.text) as { error: { reason?: string } }).error.reason, reason)
    }
  })
