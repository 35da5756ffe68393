import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { inDatabase } from '../../support/database.ts'
import { send, type RawRequest } from '../../support/http.ts'
import { offByFlag, offByNeed, offByRelease, probe } from '../../support/probe-feature.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ features: [...features, probe, offByFlag, offByNeed, offByRelease], env: { POLICY_ENABLED: 'OFF' } })
})
test.after.always(() => app.stop())

const ask = (path: string, request: RawRequest = {}) =>
  send(app.baseUrl + path, { ...request, headers: { 'x-service-api-key': app.adminKey, ...request.headers } })

const answers = test.macro<[string, string, number, string, RegExp]>({
  async exec(t, method, path, status, code, message) {
    const answer = await ask(path, { method })
    t.is(answer.status, status, answer.text)
    const { error } = JSON.parse(answer.text)
    t.is(error.code, code)
    t.regex(error.message, message)
    t.is(answer.headers['x-request-id'], error.request_id)
  },
  title: (_, method, path, status, code) => `${method} ${path}: ${status} ${code}`,
})

test(answers, 'GET', '/nowhere', 404, 'not_found', /nothing at \/nowhere/)
test(answers, 'GET', '/v1', 404, 'not_found', /nothing at \/v1/)
test(answers, 'GET', '/v2/api-keys', 404, 'not_found', /nothing/)
test(answers, 'GET', '/v1/api-keys/a/b/c/d', 404, 'not_found', /nothing/)
test(answers, 'PATCH', '/v1/probe/echo', 405, 'method_not_allowed', /does not take PATCH. It takes: POST/)
test(answers, 'POST', '/healthz', 404, 'not_found', /nothing/)
test(answers, 'GET', '/v1/off-by-flag', 404, 'feature_unavailable', /off-by-flag is off.*POLICY_ENABLED/)
test(answers, 'GET', '/v1/off-by-need', 404, 'feature_unavailable', /needs the feature off-by-flag/)
test(answers, 'GET', '/v1/off-by-release/7', 404, 'feature_unavailable', /comes with release 99\.1\.0/)
test(answers, 'PUT', '/v1/probe/fail/foreseen', 404, 'AB08', /no such thing/)
test(answers, 'PUT', '/v1/probe/fail/twice', 409, 'AB07', /must be unique/)
test(answers, 'PUT', '/v1/probe/fail/unforeseen', 500, 'AB04', /^Something went wrong on our side/)
test(answers, 'PUT', '/v1/probe/fail/wrong-answer', 500, 'AB04', /^Something went wrong on our side/)

test('a 405 says which methods there are', async (t) => {
  t.is((await ask('/v1/probe/echo', { method: 'DELETE' })).headers.allow, 'POST')
})

test('a failed write changes nothing, is logged with its cause, and tells the caller nothing', async (t) => {
  const answer = await ask('/v1/probe/fail/unforeseen', { method: 'PUT' })
  t.is(answer.status, 500)
  t.notRegex(answer.text, /detail|sk-|TypeError/)
  const { request_id: requestId } = JSON.parse(answer.text).error
  const line = app.logged.find((candidate) => candidate['request_id'] === requestId && candidate['level'] === 'error')
  t.like(line, { err: { cause: { type: 'TypeError', message: 'secret detail [secret]' } } })
  const { rows } = await inDatabase(app.database.superuser, (client) =>
    client.query(`SELECT count(*)::int AS n FROM workspaces WHERE description IS NOT NULL`),
  )
  t.is(rows[0].n, 0)
})

test('a statement that the database cancels is a 503 that says when to retry', async (t) => {
  const answer = await ask('/v1/probe/fail/too-long', { method: 'PUT' })
  t.is(answer.status, 503)
  t.is(JSON.parse(answer.text).error.code, 'busy')
  t.is(answer.headers['retry-after'], '5')
  t.is(answer.headers['retry-after-ms'], '5000')
})

test('undeclared fields do not leave the house', async (t) => {
  const answer = await ask('/v1/probe/items/x')
  t.is(answer.text, '{"id":"x","inner":{"a":1}}')
})

test('a HEAD is a GET without its body', async (t) => {
  const answer = await ask('/v1/probe/items/x', { method: 'HEAD' })
  t.is(answer.status, 200)
  t.is(answer.text, '')
})

test('a path of the control plane is no provider path, whatever the request names', async (t) => {
  const own = await ask('/v1/logs-of-the-provider', { headers: { 'x-service-api-key': app.workspaceKey } })
  t.is(JSON.parse(own.text).error.code, 'missing_provider')
  const named = await send(`${app.baseUrl}/v1/probe/of-the-provider`, {
    headers: { 'x-service-api-key': app.workspaceKey, 'x-service-provider': '@nobody' },
  })
  t.is(JSON.parse(named.text).error.code, 'not_found')
  const exact = await ask('/v1/probe/items/x', { headers: { 'x-service-provider': '@nobody' } })
  t.is(exact.status, 200)
})

test('one access line a request, of named fields only', async (t) => {
  const control = await ask('/v1/probe/items/x?secret=hunter2', { headers: { 'x-other': 'header-value' } })
  const plain = await send(`${app.baseUrl}/v1/chat/completions?key=hunter2`, { method: 'POST' })
  const known = await send(`${app.baseUrl}/v1/chat/completions`, { method: 'POST', headers: { 'x-service-api-key': app.workspaceKey } })
  const linesOf = (answer: typeof control) =>
    app.logged.filter((line) => line['log_type'] === 'access' && line['request_id'] === answer.headers['x-request-id'])
  t.is(linesOf(control).length, 1)
  t.like(linesOf(control)[0], { route: '/probe/items/:id', method: 'GET', status: 200, client_ip: '127.0.0.1' })
  t.is(linesOf(plain).length, 1)
  t.like(linesOf(plain)[0], { method: 'POST', status: 401 })
  t.is(linesOf(known).length, 1)
  t.like(linesOf(known)[0], { route: 'chatComplete', status: known.status })
  t.notRegex(JSON.stringify(app.logged), /hunter2|header-value/)
  t.false(JSON.stringify(app.logged).includes(app.adminKey))
})
