import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parse } from 'yaml'
import { gatehouseHere, root } from '../../support/cli.ts'

/** The records in a folder of their own, which a test may damage. */
function checkout(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-new-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const name of ['releases', 'migrations', 'charts', 'CHANGELOG.md'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  return folder
}

const record = (folder: string, version: string) => parse(readFileSync(path.join(folder, 'releases', `${version}.yaml`), 'utf8')) as object

test('new scaffolds a record of what no record names', async (t) => {
  const folder = checkout(t)
  // The newest releases lose their memory: their additions are unrecorded again.
  rmSync(path.join(folder, 'releases', '1.12.0.yaml'))
  const of190 = path.join(folder, 'releases', '1.9.0.yaml')
  writeFileSync(of190, readFileSync(of190, 'utf8').replace(/^ *- (?:SCIM_ENABLED|POLICY_ENABLED)\n/gm, ''))
  mkdirSync(path.join(folder, 'migrations', 'v01.13.00'))
  writeFileSync(path.join(folder, 'migrations', 'v01.13.00', '001-drop.sql'), '-- phase: contract\nSELECT 1;\n')
  writeFileSync(path.join(folder, 'migrations', 'v01.13.00', '002-add.sql'), '-- phase: expand\nSELECT 1;\n')

  const { status, stdout } = await gatehouseHere(['--root', folder, 'release', 'new', '1.13.0', '--date', '2026-04-01'])
  t.is(status, 0)
  t.regex(stdout, /^releases\/1\.13\.0\.yaml: written\./)
  t.like(record(folder, '1.13.0'), {
    version: '1.13.0',
    date: '2026-04-01',
    kind: 'minor',
    chart: '>1.4.0',
    env: {
      added: [
        'GCP_WIF_AUDIENCE',
        'GCP_WIF_SERVICE_ACCOUNT_EMAIL',
        'SECRET_CACHE_TTL',
        'SECRET_MAX_STALE',
        'SECRET_MANAGER_TIMEOUT',
        'SCIM_ENABLED',
        'POLICY_ENABLED',
      ],
    },
    migrations: [
      { id: 'v01.13.00/002-add', phase: 'expand' },
      { id: 'v01.13.00/001-drop', phase: 'contract' },
    ],
    postgres: '>=14 <19',
  })
  t.is((await gatehouseHere(['--root', folder, 'release', 'new', '1.13.0'])).status, 2)
})

test('new refuses what is no later release, and no date', async (t) => {
  t.like(await gatehouseHere(['release', 'new', '1.11.0']), { status: 2, stderr: 'error: 1.11.0 does not come after 1.12.0\n' })
  t.regex((await gatehouseHere(['release', 'new', '1.13'])).stderr, /1\.13 is no version/)
  t.regex((await gatehouseHere(['release', 'new', '1.13.0', '--date', 'soon'])).stderr, /write a date such as 2026-03-20/)
})
