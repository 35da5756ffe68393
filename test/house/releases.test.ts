import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { oldestPostgresql } from '../../src/app/database/connect.ts'
import { readProject } from '../../tools/records/project.ts'
import { check } from '../../tools/records/check.ts'
import { itemsOf } from '../../src/release/items.ts'
import { chartFor, findRelease } from '../../src/release/table.ts'
import { upgradePath } from '../../src/release/path.ts'

const root = path.resolve(import.meta.dirname, '../..')
const project = readProject(root)
const { table } = project

test('the records agree with the announced releases, the code and the generated files', (t) => {
  t.deepEqual(
    check(project).filter(({ pending }) => !pending),
    [],
  )
  t.is(table.releases.length, 21)
  t.is(table.charts.length, 7)
})

test('what is pending is in a line of the notes, which says so', (t) => {
  for (const release of table.releases) {
    const told = new Set(release.notes.flatMap(({ of }) => of))
    const pending = itemsOf(release, project).filter(({ kind, implemented }) => !implemented && /^(?:feature|change|setting)$/.test(kind))
    for (const { kind, name } of pending)
      t.true(told.has(name), `${release.version}: the ${kind} ${name} is pending, and no line of its notes is of it`)
  }
})

test('all releases run on the PostgreSQL that the code accepts', (t) => {
  for (const { version, postgres } of table.releases) t.regex(postgres, new RegExp(`^>=${oldestPostgresql} `), version)
})

test('this build is a recorded release', (t) => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  t.not(findRelease(table, version), null)
})

test('each release has a chart that deploys it, and a path leads to it from each earlier one', (t) => {
  for (const [at, to] of table.releases.entries()) {
    t.not(chartFor(table, to), null, to.version)
    for (const from of table.releases.slice(0, at)) {
      const hops = upgradePath(table, { from: from.version, to: to.version }, { volume: true })
      t.is(hops.at(-1)?.version, to.version)
    }
  }
})

/** The files that a program loads when it starts, and the packages that they import. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const text = readFileSync(path.join(root, file), 'utf8')
  for (const [, clause = '', name = ''] of text.matchAll(/^(?:import|export) (?:([\w*{][^'"=();]*) from )?'([^']+)'/gm)) {
    if (clause.startsWith('type ')) continue
    if (name.startsWith('.')) loadedBy(path.posix.join(path.posix.dirname(file), name), seen)
    else seen.add(name)
  }
  return seen
}

test('the server starts without reading records, and loads no package for it', (t) => {
  const server = loadedBy('src/main.ts')
  t.true(server.has('zod') && server.has('src/app/level/mount.ts'))
  t.deepEqual(
    [...server].filter((name) => /^(?:yaml|commander|src\/cli\/)/.test(name)),
    [],
  )
  t.true(loadedBy('src/cli/gatehouse.ts').has('yaml'))
})
