import test from 'ava'
import { checks as allChecks } from '../../../src/gateway/checks/registry.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant

test.before(async () => {
  control = await startControl()
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
})
test.after.always(() => control?.close())

type Body = Readonly<Record<string, unknown>>
const tried = (body: Body, key = acme.workspaceKey) => control.call(key, 'POST', '/guardrails/test', body)
const words = (parameters: Body) => ({ id: 'default.contains', parameters })
const noSecrets = [words({ words: ['secret'], operator: 'none' })]
const block = { onFail: 'block', message: 'No.' }

test('the catalogue has every check, with what a form needs', async (t) => {
  const { status, body } = await control.call(acme.workspaceKey, 'GET', '/catalogue/checks')
  t.is(status, 200)
  const data = body['data'] as readonly Body[]
  t.deepEqual(
    data.map(({ id }) => id),
    allChecks.map(({ id }) => id),
  )
  t.like(
    data.find(({ id }) => id === 'default.webhook'),
    { phases: ['input', 'output'], calls_out: true, changes: true },
  )
  t.like(
    data.find(({ id }) => id === 'default.contains'),
    {
      calls_out: false,
      timeout: null,
      parameters: { type: 'object', properties: { operator: { enum: ['any', 'all', 'none'] } }, required: ['words'] },
    },
  )
  const one = await control.call(acme.workspaceKey, 'GET', '/catalogue/checks?id=default.contains')
  t.like(one.body, { object: 'check_catalogue', data: { length: 1 } })
})

const samples: readonly (readonly [what: string, body: Body, expected: Body])[] = [
  ['a text that fails', { checks: noSecrets, actions: block, text: 'a secret' }, { verdict: false, denied: true, transformed: false }],
  ['a text that passes', { checks: noSecrets, actions: block, text: 'nothing' }, { verdict: true, denied: false }],
  ['checks that do not deny', { checks: noSecrets, actions: { onFail: 'log' }, text: 'a secret' }, { verdict: false, denied: false }],
  [
    'the body of a request',
    { checks: noSecrets, request: { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'secret' }] }] } },
    { verdict: false },
  ],
  ['another endpoint', { checks: noSecrets, path: '/embeddings', request: { model: 'm', input: ['fine', 'secret'] } }, { verdict: false }],
  ['a model that answers', { checks: noSecrets, phase: 'output', text: 'the secret' }, { verdict: false, phase: 'output' }],
  [
    'the body of an answer',
    { checks: noSecrets, phase: 'output', response: { choices: [{ message: { role: 'assistant', content: 'fine' } }] } },
    { verdict: true },
  ],
  [
    'a check that changes',
    { checks: [{ id: 'default.regexReplace', parameters: { rule: '\\d{4}', redactText: '****' } }], text: 'card 1234' },
    { verdict: true, transformed: true, body: { messages: [{ role: 'user', content: 'card ****' }] } },
  ],
  [
    'metadata',
    { checks: [{ id: 'default.requiredMetadataKeys', parameters: { metadataKeys: ['team'] } }], text: 'x', metadata: { team: 'search' } },
    { verdict: true },
  ],
]

for (const [what, body, expected] of samples)
  test(`tried on: ${what}`, async (t) => {
    const answer = await tried(body)
    t.is(answer.status, 200, answer.text)
    t.like(answer.body, { object: 'guardrail_test', ...expected })
    t.is((answer.body['checks'] as readonly unknown[]).length, 1)
  })

const wrong: readonly (readonly [what: string, body: Body, message: RegExp])[] = [
  ['neither guardrail nor checks', { text: 'x' }, /Give a stored guardrail or checks, one of the two/],
  ['both', { guardrail: 'g', checks: noSecrets, text: 'x' }, /one of the two/],
  ['nothing to try it on', { checks: noSecrets }, /Give a text, or the body of the phase/],
  ['the body of another phase', { checks: noSecrets, phase: 'output', request: {} }, /`response` with `output`/],
  ['a check that there is not', { checks: [{ id: 'default.nothing' }], text: 'x' }, /default\.nothing/],
  ['a field that there is not', { checks: noSecrets, text: 'x', colour: 'red' }, /colour/],
  [
    'a webhook into the own network',
    { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'http://10.0.0.1/' } }], text: 'x' },
    /10\.0\.0\.1/,
  ],
]

for (const [what, body, message] of wrong)
  test(`refused: ${what}`, async (t) => {
    const answer = await tried(body)
    t.is(answer.status, 400, answer.text)
    t.regex(String((answer.body['error'] as Body)['message']), message)
  })

test('a stored guardrail is tried by who may read it, and nothing is stored or noted', async (t) => {
  const { body: made } = await control.call(acme.workspaceKey, 'POST', '/guardrails', {
    name: 'g',
    slug: 'tried',
    checks: noSecrets,
    actions: block,
  })
  const { body: before } = await control.call(acme.adminKey, 'GET', '/audit-logs')
  for (const guardrail of ['tried', made['id']]) {
    const answer = await tried({ guardrail, text: 'a secret' })
    t.like(answer.body, { verdict: false, denied: true }, answer.text)
  }
  t.is((await tried({ guardrail: 'tried', text: 'x' }, other.workspaceKey)).status, 404)
  t.is((await tried({ guardrail: 'tried', text: 'x' }, other.adminKey)).status, 404)
  const { body: after } = await control.call(acme.adminKey, 'GET', '/audit-logs')
  t.is(after['total'], before['total'])
})
