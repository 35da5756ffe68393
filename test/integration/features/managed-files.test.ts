// Files that Gatehouse keeps itself, used by OpenAI's own client.
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { connect } from 'node:net'
import test from 'ava'
import { toFile } from 'openai'
import { openLineQueue } from '../../../src/app/managed/line-queue.ts'
import type { EndingBatch } from '../../../src/gateway/ports/managed.ts'
import { deleteExpiredFiles } from '../../../src/features/batches/batches.jobs.ts'
import { workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { clientOf, lineOf, startBatch, storeProvider } from './managed-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant
let other: Tenant
let beside: string
const MiB = 1024 * 1024

test.before(async () => {
  const quota = { FILES_STORED_IN_MB: '5', FILES_OF_WORKSPACE_STORED_IN_MB: '3', BATCH_LINES_AT_ONCE: '0' }
  ;[control, emulator] = await Promise.all([startControl({}, quota), startEmulator()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  await storeProvider(control, acme, emulator.url)
  beside = await control.openBeside()
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const mine = (origin = control.origin) => clientOf(origin, acme.workspaceKey)
const statusOf = async (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: { readonly status?: number }) => error.status,
  )

test.serial('a file is stored sealed, and read, in parts too, listed and deleted in every process', async (t) => {
  const bytes = Buffer.concat([Buffer.from('canary-of-a-file\n'), randomBytes(700_000)])
  const made = await mine().files.create({ purpose: 'user_data', file: await toFile(bytes, 'näme.bin') })
  t.like(made, { object: 'file', bytes: bytes.length, filename: 'näme.bin', purpose: 'user_data', status: 'processed' })
  t.regex(made.id, /^file-gw[0-9a-f]{36}$/)
  const there = mine(beside)
  t.deepEqual(await there.files.retrieve(made.id), made)
  t.true(Buffer.from(await (await there.files.content(made.id)).arrayBuffer()).equals(bytes))
  const dump = await control.dump()
  t.false(dump.includes('canary-of-a-file') || dump.includes('näme.bin'))

  for (const [range, from, to] of [
    ['bytes=0-9', 0, 10],
    ['bytes=262140-262150', 262_140, 262_151],
    ['bytes=-5', bytes.length - 5, bytes.length],
    ['bytes=699999-', 699_999, bytes.length],
  ] as const) {
    const part = await fetch(`${beside}/v1/files/${made.id}/content`, { headers: { 'x-service-api-key': acme.workspaceKey, range } })
    t.is(part.status, 206, range)
    t.is(part.headers.get('content-range'), `bytes ${from}-${to - 1}/${bytes.length}`)
    t.true(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(from, to)), range)
  }
  const beyond = await send(`${beside}/v1/files/${made.id}/content`, {
    headers: { 'x-service-api-key': acme.workspaceKey, range: `bytes=${bytes.length}-` },
  })
  t.is(beyond.status, 416, beyond.text)

  const second = await mine().files.create({ purpose: 'batch', file: await toFile(Buffer.from('{}'), 'b.jsonl') })
  t.is(Number(second.expires_at), second.created_at + 30 * 86_400)
  const pages: string[] = []
  for await (const { id } of there.files.list({ limit: 1 })) pages.push(id)
  t.deepEqual(pages, [second.id, made.id])
  const batchFiles = await there.files.list({ purpose: 'batch' })
  t.deepEqual(
    batchFiles.data.map(({ id }) => id),
    [second.id],
  )
  for (const id of pages) t.true((await there.files.delete(id)).deleted)
  t.is(await statusOf(mine().files.retrieve(made.id)), 404)
})

test.serial('no other organisation, workspace or key reads, lists or deletes a file, unless it may view its logs', async (t) => {
  const { id } = await mine().files.create({ purpose: 'user_data', file: await toFile(Buffer.from('x'), 'x.txt') })
  const scopes = workspaceScopes.filter((scope) => scope !== 'logs.view')
  const limited = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes })
  for (const key of [other.workspaceKey, acme.sideKey, limited]) {
    const client = clientOf(control.origin, key)
    t.deepEqual((await client.files.list()).data, [])
    for (const call of [client.files.retrieve(id), client.files.content(id), client.files.delete(id)]) t.is(await statusOf(call), 404)
    t.is(await statusOf(client.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' })), 404)
  }
  const colleague = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: workspaceScopes })
  t.is(await statusOf(clientOf(control.origin, colleague).files.retrieve(id)), 200)
  t.true((await mine().files.delete(id)).deleted)
})

test.serial('quotas of the workspace and of the organisation hold, and nothing of a refused upload is left', async (t) => {
  const upload = async (key: string, bytes: number) =>
    clientOf(control.origin, key).files.create({ purpose: 'user_data', file: await toFile(randomBytes(bytes), 'a.bin') })
  await upload(acme.workspaceKey, 2 * MiB)
  t.is(await statusOf(upload(acme.workspaceKey, 1.5 * MiB)), 413)
  await upload(acme.sideKey, 2 * MiB)
  t.is(await statusOf(upload(acme.sideKey, 1.5 * MiB)), 413)
  const { rows } = await control.sql.query<{ bytes: string }>('SELECT bytes FROM files WHERE organisation_id = $1', [acme.organisationId])
  t.deepEqual(
    rows.map(({ bytes }) => Number(bytes)),
    [2 * MiB, 2 * MiB],
  )
  await control.sql.query(`UPDATE files SET expires_at = now() - interval '1 s'`)
  t.deepEqual((await mine().files.list()).data, [])
  await upload(acme.workspaceKey, MiB)
  await deleteExpiredFiles.run(control.started.deps)
  const left = await control.sql.query('SELECT 1 FROM file_pieces')
  t.is(left.rows.length, 4)
  await control.sql.query('DELETE FROM files')
})

/** The lines as another process sees them; the one that is tested runs none. */
const queueBeside = () => {
  const query = async (text: unknown, values: readonly unknown[] = []) => control.sql.query(String(text), [...values])
  const connections = { query, inOrganisation: () => Promise.reject(new Error('It sees all organisations.')) }
  return openLineQueue({
    side: { of: () => connections as never, end: async () => {} },
    seal: control.started.deps.vault.logs,
    organisationBytes: 5 * MiB,
  })
}
const organisationsOf = async () => (await queueBeside().open()).map(({ organisationId }) => organisationId)

test.serial('beyond its quota an organisation makes no batch, and its lines wait until there is room', async (t) => {
  const theirs = clientOf(control.origin, other.workspaceKey)
  const { id } = await startBatch(mine(), [lineOf('a', 'x')])
  await startBatch(theirs, [lineOf('a', 'x')])
  for (const [bytes, status, open] of [
    [2 * MiB, 200, [acme, other, acme]],
    [5.5 * MiB, 413, [acme, other, acme]],
    [6.5 * MiB, 413, [other]],
    [0, 200, [acme, other, acme, acme]],
  ] as const) {
    await control.sql.query('UPDATE batches SET result_bytes = $2 WHERE id = $1', [id, bytes])
    t.is(await statusOf(startBatch(mine(), [lineOf('a', 'x')])), status, `${bytes} bytes of results`)
    t.deepEqual(
      (await organisationsOf()).toSorted(),
      open.map(({ organisationId }) => organisationId).toSorted(),
      `${bytes} bytes of results`,
    )
  }
})

test.serial('batches end in turn by organisation: many that one has cancelled do not go before those of another', async (t) => {
  await control.sql.query(`UPDATE batches SET state = 'cancelling'`)
  const queue = queueBeside()
  const next = async (without: readonly string[] = []): Promise<EndingBatch> => {
    const batch = await queue.ending(without)
    if (batch === null) throw new Error('No batch has ended.')
    return batch
  }
  const [first, second, third, fourth] = [await next(), await next(), await next(), await next()]
  t.deepEqual(
    [first, second, third, fourth].map((batch) => batch.organisationId),
    [acme.organisationId, other.organisationId, acme.organisationId, acme.organisationId],
  )
  t.is(await queue.ending([]), null, 'all are held')
  t.true(await queue.hold(first))
  await queue.leave(second)
  t.false(await queueBeside().hold(first), 'another process holds it')
  t.is(await queue.ending([second.organisationId]), null)
  // Batches that could not be ended: the one that was begun first is next, and goes behind the others of its organisation then.
  await control.sql.query('UPDATE batches SET ended_by_until = now()')
  t.deepEqual([(await next()).id, (await next([second.organisationId])).id], [second.id, first.id])
  await control.sql.query('DELETE FROM batches')
  await control.sql.query('DELETE FROM files')
})

const boundary = 'xxEDGExx'
const field = (name: string, value: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const filePart = (text: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="f.jsonl"\r\ncontent-type: text/plain\r\n\r\n${text}\r\n`
const end = `--${boundary}--\r\n`
const post = (body: string, headers: Record<string, string> = {}) =>
  send(`${control.origin}/v1/files`, {
    method: 'POST',
    headers: { 'x-service-api-key': acme.workspaceKey, 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    body,
  })

const faulty: readonly (readonly [string, string, string])[] = [
  ['no purpose', filePart('x') + end, 'purpose'],
  ['an unknown purpose', field('purpose', 'batch_output') + filePart('x') + end, 'purpose'],
  ['no file', field('purpose', 'batch') + end, 'file'],
  ['two files', field('purpose', 'batch') + filePart('x') + filePart('y') + end, 'file'],
  ['a form that is cut off', field('purpose', 'batch') + filePart('x'), 'file'],
  [
    'a life that is too short',
    field('purpose', 'batch') + field('expires_after[seconds]', '60') + filePart('x') + end,
    'expires_after[seconds]',
  ],
  ['a purpose twice', field('purpose', 'batch') + field('purpose', 'evals') + filePart('x') + end, 'purpose'],
]
for (const [what, body, param] of faulty)
  test.serial(`an upload is refused, and nothing of it kept: ${what}`, async (t) => {
    const answer = await post(body)
    t.is(answer.status, 400, answer.text)
    t.is((JSON.parse(answer.text) as { error: { param: string } }).error.param, param, answer.text)
    t.is((await control.sql.query('SELECT 1 FROM files')).rows.length, 0)
  })

test.serial('an upload has its place before its form is read: the ninth at once is refused', async (t) => {
  const headers = { 'x-service-api-key': acme.workspaceKey, 'content-type': `multipart/form-data; boundary=${boundary}` }
  const hanging = Array.from({ length: 8 }, () => {
    const upload = request(`${control.origin}/v1/files`, { method: 'POST', headers }).on('error', () => {})
    upload.write(field('purpose', 'batch'))
    return upload
  })
  const whole = field('purpose', 'batch') + filePart('{}') + end
  await eventually(async () => (await post(whole)).status === 503, 15_000, 'the refusal')
  for (const upload of hanging) upload.destroy()
  await eventually(async () => (await post(whole)).status === 200, 15_000, 'a free place')
  await control.sql.query('DELETE FROM files')
  t.pass()
})

const byteByByte = (text: string) => text.replaceAll(/[^]/g, (byte) => `1\r\n${byte}\r\n`)

test.serial('an upload in chunks of one byte is stored as it came', async (t) => {
  const text = randomBytes(300_000).toString('base64')
  const { hostname, port } = new URL(control.origin)
  const answer = await new Promise<string>((resolve, reject) => {
    let heard = ''
    const socket = connect(Number(port), hostname)
    socket
      .on('data', (bytes) => (heard += bytes.toString()))
      .on('end', () => resolve(heard))
      .on('error', reject)
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\nx-service-api-key: ${acme.workspaceKey}\r\n` +
        `content-type: multipart/form-data; boundary=${boundary}\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    socket.write(`${byteByByte(field('purpose', 'batch') + filePart(text) + end)}0\r\n\r\n`)
  })
  const id = /file-gw[0-9a-f]{36}/.exec(answer)?.[0] ?? ''
  t.is(await (await mine().files.content(id)).text(), text, answer.slice(0, 300))
  t.true((await mine().files.delete(id)).deleted)
})

test.serial('a request that names a provider goes there as before, also by the model of its form behind the file', async (t) => {
  const whole = field('purpose', 'batch') + filePart('{"a":1}') + end
  const byHeader = await post(whole, { 'x-service-provider': '@p' })
  t.is(byHeader.status, 200, byHeader.text)
  t.true(emulator.requests.at(-1)?.body.equals(Buffer.from(whole)))
  const byModel = await post(field('purpose', 'batch') + filePart('{"a":1}') + field('model', '@p/gpt-4o') + end)
  t.is(byModel.status, 200, byModel.text)
  t.true(emulator.requests.at(-1)?.body.includes('name="model"\r\n\r\ngpt-4o\r\n'))
  t.log('A')
  const before = emulator.requests.length
  for (const path of ['/files', '/files/file-abc', '/batches']) {
    const answer = await send(`${control.origin}/v1${path}`, {
      headers: { 'x-service-api-key': acme.workspaceKey, 'x-service-provider': '@p' },
    })
    t.true(answer.status < 500, answer.text)
  }
  t.is(emulator.requests.length, before + 3)
  const asked = await post(whole, { 'x-service-provider': '@p', 'x-service-job-mode': 'managed' })
  t.regex((JSON.parse(asked.text) as { id: string }).id, /^file-gw/)
  const odd = await post(whole, { 'x-service-job-mode': 'both' })
  t.is(odd.status, 400)
  t.is(emulator.requests.length, before + 3)
})
