import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { createLocalStore } from '../../../src/app/log-store/local-store.ts'
import { objectKey } from '../../../src/app/log-store/object-key.ts'
import { expireObjects } from '../../../src/features/logs/logs.jobs.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { startApp } from '../../support/app.ts'

const dayMs = 24 * 3_600_000
const [organisationId, workspaceId] = ['01980000-0000-7000-8000-000000000001', '01980000-0000-7000-8000-000000000002']

async function temporary(t: { teardown(done: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-expiry-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Named {
  readonly days?: number
  readonly format?: 'v1' | 'v2'
  readonly workspace?: string | null
}
const keyAt = (createdAt: number, { days = 90, format = 'v2', workspace = workspaceId }: Named = {}) =>
  objectKey({ id: uuidv7(createdAt), organisationId, workspaceId: workspace, createdAt }, days, format)

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted()
}

async function put(folder: string, name: string): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), '{}')
}

test('objects of before a time go, in each format and under each retention; all else stays', async (t) => {
  const [folder, elsewhere] = [await temporary(t), await temporary(t)]
  const store = createLocalStore(folder)
  const before = Date.UTC(2026, 1, 1)
  const old = [
    keyAt(before - 1),
    keyAt(before - 400 * dayMs),
    keyAt(before - dayMs, { workspace: null }),
    keyAt(before - 2 * dayMs, { days: 30 }),
    keyAt(before - 1, { format: 'v1' }),
  ]
  const left = `${keyAt(before - 5 * dayMs)}.${uuidv7(before)}.part`
  const young = [keyAt(before), keyAt(before + 40 * dayMs), keyAt(before, { format: 'v1' }), `${keyAt(before)}.${uuidv7(before)}.part`]
  const others = [
    'notes.json',
    `${uuidv7(0)}.json`,
    `90/${uuidv7(0)}.json`,
    `90/${organisationId}/${workspaceId}/2025/notes.txt`,
    `90/${organisationId}/${workspaceId}/2025/01/01/00/readme.json`,
    `90/${organisationId}/${workspaceId}/2025/${uuidv7(0)}.json`,
    `photos/${organisationId}/${workspaceId}/2025/01/01/00/${uuidv7(0)}.json`,
  ]
  for (const key of [...old, ...young]) await (key.endsWith('.part') ? put(folder, key) : store.put(key, Buffer.from('{}')))
  for (const name of [left, ...others]) await put(folder, name)
  const outside = `${organisationId}/${uuidv7(0)}.json`
  await put(elsewhere, outside)
  await symlink(elsewhere, join(folder, '80'))
  t.is(await store.expire?.(before), old.length)
  t.deepEqual(await filesIn(folder), ['80', ...young, ...others].toSorted())
  t.deepEqual(await filesIn(elsewhere), [outside])
  t.false((await readdir(join(folder, '30', organisationId, workspaceId))).includes('12'), 'folders of days that are over are gone')
  t.is(await store.expire?.(before), 0)
})

test('an empty or missing folder has nothing to expire', async (t) => {
  t.is(await createLocalStore(await temporary(t)).expire?.(Date.now()), 0)
  t.is(await createLocalStore(join(tmpdir(), uuidv7())).expire?.(Date.now()), 0)
})

test('the job deletes what is older than the logs', async (t) => {
  const folder = await temporary(t)
  const app = await startApp({ env: { LOG_STORE: 'local', LOG_STORE_LOCAL_PATH: folder, LOG_RETENTION_DAYS: '7' } })
  t.teardown(() => app.stop())
  const store = createLocalStore(folder)
  const [gone, kept] = [keyAt(Date.now() - 9 * dayMs), keyAt(Date.now() - 6 * dayMs)]
  for (const key of [gone, kept]) await store.put(key, Buffer.from('{}'))
  await expireObjects.run(app.deps)
  t.is(await store.get(gone), null)
  t.truthy(await store.get(kept))
})
