import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { inDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from '../../support/http.ts'
import { adminKey, type Gatehouse, startGatehouse } from '../../support/process.ts'
import { programFile } from '../../support/program.ts'

/** CPU milliseconds that the main thread may take within the six turns of its event loop that a small request needs. */
const most = 300
/** Looks of the probe for each shape. */
const looks = 16

const root = path.resolve(import.meta.dirname, '../../..')
const support = path.join(root, 'test/support')
const record = path.join(tmpdir(), `turns-${randomUUID()}`)

let gatehouse: Gatehouse
let hostileKey: string

test.before(async () => {
  writeFileSync(record, '')
  const args = ['--import', path.join(support, 'turn-probe.mjs'), programFile('main')]
  gatehouse = await startGatehouse({ program: { folder: root, args }, env: { LOG_LEVEL: 'warn', TURN_PROBE: record } })
  const made = await sendJson(
    `${gatehouse.origin}/v1/api-keys/workspace/service`,
    { 'x-service-api-key': adminKey },
    { name: 'hostile', scopes: ['completions.write', 'logs.write', 'configs.create'] },
  )
  const { id, key } = JSON.parse(made.text) as { id: string; key: string }
  hostileKey = key
  const [organisation, workspace] = [randomUUID(), randomUUID()]
  await inDatabase(gatehouse.superuser, async (client) => {
    await client.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'hostile', 'hostile')`, [organisation])
    await client.query(`INSERT INTO workspaces (id, organisation_id, slug, name, is_default) VALUES ($1, $2, 'h', 'h', true)`, [
      workspace,
      organisation,
    ])
    await client.query('UPDATE api_keys SET organisation_id = $2, workspace_id = $3 WHERE id = $1', [id, organisation, workspace])
  })
})
test.after.always(() => gatehouse?.stop())

const taken = (): readonly number[] => readFileSync(record, 'latin1').split('\n').slice(0, -1).map(Number)

/** Resolves when the process has done with the shape before: its exchanges end in turns, too. */
function calm(): Promise<unknown> {
  const from = taken().length
  return eventually(
    () => {
      const last = taken().slice(from).slice(-10)
      return last.length === 10 && last.every((ms) => ms < 20)
    },
    60_000,
    'a process with nothing to do',
  )
}

/** Returns the milliseconds that nine of ten looks from now on stay below. */
async function ninth(): Promise<number> {
  const from = taken().length
  await eventually(() => taken().length >= from + looks, 60_000, 'the looks of the probe')
  return (
    taken()
      .slice(from)
      .toSorted((one, other) => one - other)[Math.floor(looks * 0.9)] ?? Infinity
  )
}

/** Starts a hostile client. Resolves when the first of its bodies is on its way. */
async function flood(shape: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(support, 'flood.ts'), gatehouse.origin, hostileKey, shape], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout ?? child, 'data')
  return child
}

for (const shape of [
  'a chat',
  'a chat for a provider of another format',
  'a chat that guardrails read',
  'texts for vectors',
  'an upload',
  'spans',
  'a config that is refused',
])
  test.serial(`twenty connections of one organisation leave others their turns at the event loop: ${shape}`, async (t) => {
    t.timeout(120_000)
    await calm()
    const child = await flood(shape)
    t.teardown(() => child.kill())
    const found = await ninth()
    t.log(`${found} ms`)
    t.true(found <= most, `${found} ms`)
    child.stdin?.end()
    await once(child, 'exit')
  })
