// Every release of the table is cut out of this checkout. In every build those at which a schema begins or ends are run, and all of them
// with NIGHTLY=1.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { z } from 'zod'
import { buildCut } from '../../../scripts/rehearse/build.ts'
import { runCommand, serve } from '../../../scripts/rehearse/command.ts'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { readTable } from '../../../src/app/level/release-records.ts'
import { cutSources } from '../../../tools/release/cut.ts'
import { chartFor, findRelease } from '../../../src/release/table.ts'
import { compareVersions } from '../../../src/release/version.ts'
import { askAdmin, manage } from '../../support/admin.ts'
import { root } from '../../support/cli.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { clientWith, patchOf } from '../features/scim-client.ts'

const table = readTable(root)
const nightly = process.env['NIGHTLY'] === '1'
const some = new Set(['1.3.0', '1.4.0', '1.5.0', '1.7.2', '1.7.3', '1.11.0'])
const cuts = table.releases.filter(({ version }) => nightly || some.has(version))

const Described = z.object({ info: z.object({ version: z.string() }), paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** The operations of a description, with parameters that have no names. */
const operationsOf = ({ paths }: z.output<typeof Described>) =>
  new Set(Object.entries(paths).flatMap(([at, methods]) => Object.keys(methods).map((method) => bare(`${method.toUpperCase()} ${at}`))))
const bare = (operation: string) => operation.replaceAll(/\{\w+\}/g, '{}')

/** Writes a person and an ordinary group as an identity provider does, and returns the statuses of the answers. */
async function syncGroup(origin: string): Promise<readonly number[]> {
  const { token } = await manage(origin, 'POST', '/scim/tokens', { name: 'Identity provider' })
  const client = clientWith(origin, String(token))
  const user = await client.send('POST', '/Users', { body: { userName: 'ada@example.com' } })
  const group = await client.send('POST', '/Groups', { body: { displayName: 'People', members: [{ value: user.body.id }] } })
  const at = `/Groups/${group.body.id}`
  const left = await client.send('PATCH', at, { body: patchOf({ op: 'remove', path: 'members' }) })
  const renamed = await client.send('PUT', at, { body: { displayName: 'Folk', members: [{ value: user.body.id }] } })
  const gone = await client.send('DELETE', at)
  return [user, group, left, renamed, gone].map(({ status }) => status)
}

test('each release runs on the schema of its own migrations, and has nothing of a later one', async (t) => {
  t.timeout(600_000)
  const described = await inParallel(cuts, 2, async (release) => {
    const { version } = release
    const [build, database] = await Promise.all([buildCut(release), testDatabase({ empty: true })])
    try {
      const files = await readMigrations(path.join(build.folder, 'migrations'))
      t.true(
        files.every((file) => compareVersions(file.release, version) <= 0),
        version,
      )
      const gatehouse = await serve(build, { on: database, env: { LOG_LEVEL: 'warn' }, args: ['--migrate'] })
      try {
        await manage(gatehouse.origin, 'POST', '/integrations', {
          name: 'stored',
          slug: 'stored',
          ai_provider_id: 'openai',
          key: 'sk-stored-0123456789',
        })
        t.is((await askAdmin(gatehouse.origin, 'GET', '/providers')).status, 200, version)
        t.deepEqual(await syncGroup(gatehouse.origin), [201, 201, 200, 200, 204], version)
        t.notRegex(gatehouse.output(), /"level":"(?:error|fatal)"/, version)
        const { rows } = await inDatabase(database.superuser, (client) =>
          client.query<{ level: string; tags: boolean; policies: boolean }>(
            `SELECT level, to_regclass('usage_limit_policies') IS NOT NULL AS policies,
                    EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'integrations' AND column_name = 'tags') AS tags FROM release_state`,
          ),
        )
        const has = (since: string) => compareVersions(version, since) >= 0
        t.deepEqual(rows, [{ level: version, policies: has('1.5.0'), tags: has('1.7.3') }], version)
        return Described.parse(await (await fetch(`${gatehouse.origin}/openapi.json`)).json())
      } finally {
        await gatehouse.stop()
      }
    } finally {
      await Promise.all([build.remove(), database.drop()])
    }
  })
  for (const [at, { version }] of cuts.entries()) {
    const document = described[at]
    if (document === undefined) throw new Error(`${version} was not described`)
    t.is(document.info.version, version)
    const operations = operationsOf(document)
    const later = table.releases.filter((release) => compareVersions(release.version, version) > 0)
    t.deepEqual(
      later.flatMap(({ api }) => api.added.filter((operation) => operations.has(bare(operation)))),
      [],
      version,
    )
  }
})

const text = (...parts: string[]) => readFile(path.join(...parts), 'utf8')

test('the sources of a release are a checkout of it: records, charts, settings and documents agree', async (t) => {
  t.timeout(600_000)
  await inParallel(
    nightly ? table.releases : cuts.filter(({ version }) => version === '1.4.0' || version === '1.7.3'),
    2,
    async (release) => {
      const { version, date } = release
      const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-cut-'))
      try {
        await cutSources({ root, folder, release })
        const checked = await runCommand(['release', 'check'], { env: {}, build: folder, makes: true })
        t.is(checked.code, 0, checked.stdout + checked.stderr)
        const later = table.releases.filter((other) => compareVersions(other.version, version) > 0)
        const record = findRelease(table, version)
        const chart = await text(folder, 'charts/app/Chart.yaml')
        t.regex(chart, new RegExp(`^version: ${record === null ? '' : chartFor(table, record)?.version}$`, 'm'))
        t.regex(await text(folder, 'docker/Dockerfile'), new RegExp(`^ARG RELEASE=${version}$`, 'm'))
        t.regex(await text(folder, 'docker/Dockerfile'), new RegExp(`^ARG CREATED=${date}T`, 'm'))
        const documents = [
          await text(folder, 'CHANGELOG.md'),
          await text(folder, 'docs/reference/settings.md'),
          await text(folder, 'charts/app/values.schema.json'),
        ]
        const written = ['README.md', 'docs/guide/configs.md', 'docs/operations/upgrade.md']
        for (const page of written) t.true((await text(folder, page)).includes(`> Release ${version}. This page is that of later`), page)
        for (const document of documents) t.false(document.includes('This page is that of later'))
        for (const { version: other, env } of later) {
          t.false(documents[0]?.includes(`## ${other} `), other)
          for (const name of env.added) t.false(documents[1]?.includes(`\`${name}\` |`), name)
          for (const name of env.added) t.false(documents[2]?.includes(`"${name}: `), name)
        }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
})

test('cut at itself, this checkout is what it is', async (t) => {
  const release = table.releases.at(-1)
  if (release === undefined) throw new Error('there is no release')
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-cut-'))
  try {
    await cutSources({ root, folder, release })
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    t.true(files.length > 500)
    for (const { parentPath, name } of files) {
      const file = path.relative(folder, path.join(parentPath, name))
      t.is(await text(folder, file), await text(root, file), file)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
