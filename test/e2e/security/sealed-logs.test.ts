import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createCanaries, dumpDatabase, readFiles, sightings, type Canaries } from '../../support/canaries.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { inDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { adminKey, environment, type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'

const [oldKey, newKey] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
const sealed = { LOG_SEALING: 'on', ENCRYPTION_KEY: oldKey }
const clear = { LOG_SEALING: 'off', ENCRYPTION_KEY: oldKey }

let emulator: Emulator
let gatehouse: Gatehouse

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse({ env: clear })
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

/** One exchange with a canary in every possible place, and one inserted by a client. The ids of their logs. */
async function talk(canaries: Canaries): Promise<readonly string[]> {
  const ids = [await call(canaries), ...(await tell(canaries))]
  for (const id of ids) await eventually(async () => (await read(id)).status === 200, 20_000, `log ${id}`)
  return ids
}

async function call(canaries: Canaries): Promise<string> {
  const unscript = emulator.script({
    path: '/said',
    behaviour: {
      status: 200,
      headers: { 'content-type': 'application/json', 'x-said': canaries.plant('an answer header') },
      body: JSON.stringify({ said: canaries.plant('an answer') }),
    },
  })
  const answer = await send(`${gatehouse.origin}/v1/said?q=${canaries.plant('a query')}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      'x-service-config': JSON.stringify({
        input_guardrails: [{ 'default.contains': { words: ['x'], operator: 'none' }, deny: false }],
      }),
      authorization: 'Bearer sk-of-the-provider',
      'content-type': 'application/json',
      'x-said': canaries.plant('a header'),
    },
    body: JSON.stringify({ messages: [{ role: 'user', content: canaries.plant('a prompt') }] }),
  })
  unscript()
  if (answer.status !== 200) throw new Error(answer.text)
  return String(answer.headers['x-service-request-id'])
}

async function tell(canaries: Canaries): Promise<readonly string[]> {
  const { status, text } = await send(`${gatehouse.origin}/v1/logs`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      request: { url: `https://provider.example/v1/chat?q=${canaries.plant('a told URL')}`, body: { q: canaries.plant('a told prompt') } },
      response: { body: { a: canaries.plant('a told answer') } },
    }),
  })
  if (status !== 200) throw new Error(text)
  return (JSON.parse(text) as { log_ids: string[] }).log_ids
}

const read = (id: string) => send(`${gatehouse.origin}/v1/logs/${id}`, { headers: { 'x-service-api-key': adminKey } })

/** The data that `LOG_SEALING` keeps from a holder of the disk or a dump. */
const lookAround = async (canaries: Canaries) => {
  const places = [
    ...(await readFiles(gatehouse.dataDir)),
    ...(await dumpDatabase(gatehouse.superuser)),
    { name: 'what it prints', text: gatehouse.output() },
  ]
  return sightings(canaries.all, places).toSorted()
}

/** The canaries that the logs of these ids do not contain. */
async function unread(canaries: Canaries, ids: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(ids.map(async (id) => (await read(id)).text))
  return canaries.all.filter(({ value }) => !texts.some((text) => text.includes(value))).map(({ name }) => name)
}

const [before, during] = [createCanaries(), createCanaries()]
let [idsBefore, idsDuring]: [readonly string[], readonly string[]] = [[], []]

test.serial('without LOG_SEALING what was said lies on the disk and in the database', async (t) => {
  idsBefore = await talk(before)
  const seen = (await lookAround(before)).join('\n')
  for (const { name } of before.all) {
    t.regex(seen, new RegExp(`^${name} in table log(?:s|_bodies)_`, 'm'))
    t.regex(seen, new RegExp(`^${name} in file journal/`, 'm'))
  }
  t.deepEqual(await unread(before, idsBefore), [])
})

test.serial('with LOG_SEALING it is nowhere, and readers read it', async (t) => {
  await gatehouse.signal('SIGTERM')
  await gatehouse.restart({ env: sealed })
  idsDuring = await talk(during)
  t.true((await readFiles(gatehouse.dataDir)).some(({ name, text }) => name.endsWith('.seg') && text.includes(idsDuring[0] ?? '?')))
  t.deepEqual(await lookAround(during), [])
  t.deepEqual(await unread(during, idsDuring), [])
  t.deepEqual(await unread(before, idsBefore), [], 'what was not sealed is read as before')
})

test.serial('what a killed process left sealed is shipped and read with the setting off', async (t) => {
  await gatehouse.signal('SIGKILL')
  await gatehouse.restart({ env: clear })
  t.deepEqual(await unread(during, idsDuring), [])
  const after = createCanaries()
  t.deepEqual(await unread(after, await talk(after)), [])
  t.true((await lookAround(after)).length > 0, 'off is off')
})

/** Changes the row of a log past every wall, and undoes it. */
async function tampered(sql: string, values: readonly unknown[], look: () => Promise<void>): Promise<void> {
  await inDatabase(gatehouse.superuser, async (client) => {
    const { rows } = await client.query<{ id: string; sealed: Buffer }>('SELECT id, sealed FROM log_bodies WHERE sealed IS NOT NULL')
    await client.query(sql, [...values])
    await look()
    for (const { id, sealed: value } of rows) await client.query('UPDATE log_bodies SET sealed = $2 WHERE id = $1', [id, value])
  })
}

test.serial('a sealed value in another row, or a changed one, is refused', async (t) => {
  const [one = '', other = ''] = idsDuring
  const refused = async () => {
    const answer = await read(one)
    t.is(answer.status, 500)
    t.regex(answer.text, /sealed, and cannot be opened: it was changed, or belongs to another log\. Its figures are in the list of logs/)
    t.deepEqual(sightings(during.all, [{ name: 'the answer', text: answer.text }]), [])
  }
  await tampered('UPDATE log_bodies SET sealed = (SELECT sealed FROM log_bodies WHERE id = $2) WHERE id = $1', [one, other], refused)
  await tampered('UPDATE log_bodies SET sealed = set_byte(sealed, 60, get_byte(sealed, 60) # 1) WHERE id = $1', [one], refused)
  await tampered('UPDATE log_bodies SET sealed = substring(sealed FROM 1 FOR 60) WHERE id = $1', [one], refused)
  t.deepEqual(await unread(during, idsDuring), [])
})

test.serial('logs are read through a rotation of ENCRYPTION_KEY', async (t) => {
  await gatehouse.signal('SIGTERM')
  await gatehouse.restart({ env: { ...sealed, ENCRYPTION_KEY: newKey, ENCRYPTION_KEY_PREVIOUS: oldKey } })
  t.deepEqual(await unread(during, idsDuring), [])
  const meanwhile = createCanaries()
  const idsMeanwhile = await talk(meanwhile)
  t.deepEqual(await lookAround(meanwhile), [])
  const both = { ...environment(gatehouse.database), ENCRYPTION_KEY: newKey, ENCRYPTION_KEY_PREVIOUS: oldKey }
  t.like(await gatehouseHere(['keys', 'rewrap'], { env: both }), { status: 0 })
  await gatehouse.signal('SIGTERM')
  await gatehouse.restart({ env: { ...sealed, ENCRYPTION_KEY: newKey } })
  t.deepEqual(await unread(during, idsDuring), [])
  t.deepEqual(await unread(meanwhile, idsMeanwhile), [])
})

test.serial('with a wrong key what waits is stored all the same, and read with the right one', async (t) => {
  const last = createCanaries()
  const id = await call(last)
  await gatehouse.signal('SIGKILL')
  await gatehouse.restart({ env: { ...sealed, ENCRYPTION_KEY: oldKey }, untilReady: false })
  await eventually(async () => (await read(id).catch(() => null))?.text.includes('"sealed"') === true, 20_000, 'a sealed server')
  const stored = () => inDatabase(gatehouse.superuser, (client) => client.query('SELECT FROM log_bodies WHERE id = $1', [id]))
  await eventually(async () => (await stored()).rowCount === 1, 20_000, `the row of ${id}`)
  await gatehouse.signal('SIGTERM')
  await gatehouse.restart({ env: { ...sealed, ENCRYPTION_KEY: newKey } })
  t.deepEqual(await unread(last, [id]), [])
})
