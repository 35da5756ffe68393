import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { settingNames } from '../../../src/config/index.ts'
import { gatehouseHere, root } from '../../support/cli.ts'

test('env describes every setting, in text, JSON and Markdown', async (t) => {
  const text = await gatehouseHere(['env'])
  t.is(text.status, 0)
  t.deepEqual(
    [...text.stdout.matchAll(/^([A-Z][A-Z0-9_]+)(?:=|$)/gm)].map(([, name]) => name),
    [...settingNames],
  )
  t.regex(
    text.stdout,
    /^DB_PASS\n {4}The password of the login\.\n {4}secret; since 1\.3\.0; also from the file that DB_PASS_FILE names\n/m,
  )
  const rows = JSON.parse((await gatehouseHere(['env', '--json'])).stdout) as Record<string, unknown>[]
  t.is(rows.length, settingNames.length)
  t.like(
    rows.find(({ name }) => name === 'DB_SSL'),
    { default: 'PREFERRED', since: '1.6.2', secret: false, value: 'PREFERRED', from: null },
  )
  t.true(
    readFileSync(path.join(root, 'docs/reference/settings.md'), 'utf8').includes(
      (await gatehouseHere(['env', '--markdown'])).stdout.trim(),
    ),
  )
})

test('env shows the values in effect, and masks secrets wherever they come from', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-env-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'pass'), 'canary-in-a-file')
  const env = {
    DB_HOST: 'db.example.com',
    DB_PASS_FILE: path.join(folder, 'pass'),
    ENCRYPTION_KEY: 'canary-in-the-environment',
    PORT: '9000',
  }
  const { status, stdout, stderr } = await gatehouseHere(['env', '--effective'], { env })
  t.is(status, 0)
  t.is(stderr, '')
  for (const line of [
    'PORT=9000',
    'HOST=127.0.0.1  (default)',
    'DB_PASS=[secret]  (from DB_PASS_FILE)',
    'ENCRYPTION_KEY=[secret]',
    'PUBLIC_URL=',
  ])
    t.true(stdout.split('\n').includes(line), line)
  t.notRegex(stdout + (await gatehouseHere(['env', '--json'], { env })).stdout, /canary/)
})

test('env names settings that cannot be used, and those that are probably misspelt', async (t) => {
  const { status, stderr } = await gatehouseHere(['env', '--effective'], { env: { PORT: 'many', DB_PASSWORD: 'x', DB_USER: 'me' } })
  t.is(status, 1)
  t.is(
    stderr,
    [
      'warning: DB_PASSWORD is not a setting; did you mean DB_PASS?',
      'warning: DB_USER has no effect without DB_HOST: the embedded PostgreSQL is used',
      'error: 1 setting cannot be used:',
      '  PORT "many" is not a whole number from 0 to 65535. Example: PORT=8080',
      '',
    ].join('\n'),
  )
})

test('env names settings that do nothing at this level', async (t) => {
  const given = { OIDC_CUSTOM_SCOPES: 'openid', POLICY_ENABLED: 'OFF', RELEASE_LEVEL: '1.8.0' }
  const { status, stderr } = await gatehouseHere(['env', '--effective'], { env: given })
  t.is(status, 0)
  t.is(
    stderr,
    [
      'warning: OIDC_CUSTOM_SCOPES has no effect: it comes with release 1.11.1, and the level of this installation is 1.8.0',
      'warning: POLICY_ENABLED has no effect: it comes with release 1.9.0, and the level of this installation is 1.8.0',
      '',
    ].join('\n'),
  )
})
