import test from 'ava'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { storeProvider } from '../../support/admin.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { chat, exchange } from '../../support/load.ts'
import { readLogged, untilLogged } from '../../support/logged.ts'
import { startGatehouse, workspaceKey } from '../../support/process.ts'

test('a folder that cannot be written: the process says so, is ready, and logs every exchange once; so it does when it can', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-unwritable-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  // Not by permissions, which the tests may be above.
  const dataDir = path.join(folder, 'data')
  await writeFile(dataDir, 'in the way')
  const emulator = await startEmulator({ record: false })
  t.teardown(() => emulator.stop())
  const gatehouse = await startGatehouse({ env: { DATA_DIR: dataDir } })
  t.teardown(() => gatehouse.stop())

  await gatehouse.printed('log records cannot be written to disk')
  const readyz = async () => (await (await fetch(`${gatehouse.origin}/readyz`)).json()) as { status: string; checks: { journal: object } }
  const { status, checks } = await readyz()
  t.is(status, 'ready')
  t.like(checks.journal, { status: 'warn' })
  t.regex(JSON.stringify(checks.journal), new RegExp(`${dataDir}/journal: .*(ENOTDIR|EEXIST)`))

  await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
  const askThrice = async () => {
    const outcomes = await Promise.all([1, 2, 3].map(() => exchange(chat(gatehouse.origin, { key: workspaceKey, provider: '@emulated' }))))
    t.deepEqual(
      outcomes.map((outcome) => outcome.status),
      [200, 200, 200],
    )
    return outcomes.map(({ id }) => id ?? '')
  }
  const ids = await askThrice()
  await untilLogged(gatehouse.superuser, ids, 20_000)

  await mkdir(`${dataDir}.later`)
  await rename(dataDir, path.join(folder, 'aside'))
  await rename(`${dataDir}.later`, dataDir)
  await eventually(async () => JSON.stringify((await readyz()).checks.journal) === '{"status":"pass"}', 20_000, 'the journal to be written')
  ids.push(...(await askThrice()))
  await untilLogged(gatehouse.superuser, ids, 20_000)
  await gatehouse.printed('log records are written to disk again')

  const logged = await readLogged(gatehouse.superuser, ids)
  t.deepEqual([logged.missing, logged.doubled, logged.unfinished], [[], [], []])
  const metrics = await (await fetch(`${gatehouse.origin}/metrics`)).text()
  t.regex(metrics, /^gateway_log_spool_dropped_total\{kind="record"\} 0$/m)
  t.regex(metrics, /^gateway_log_spool_records 0$/m)
})
