import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { judgeClock } from '../../../../src/cli/preflight/checks/clock.ts'
import { judgeVersion } from '../../../../src/cli/preflight/checks/connection.ts'
import { judgeRoom } from '../../../../src/cli/preflight/checks/disk.ts'
import { parseHistory } from '../../../../src/cli/preflight/helm-history.ts'
import { judgeEncrypted, judgePlain } from '../../../../src/cli/preflight/checks/tls.ts'
import { loadConfig } from '../../../../src/config/index.ts'
import { hasOpenssl, makeAuthority, makeCertificate } from '../../../support/certificates.ts'
import { root } from '../../../support/cli.ts'
import { temporaryFolder, verdictOf } from '../../../support/preflight.ts'

const isRoot = process.getuid?.() === 0
// Loud on purpose: only root can make files of others.
const asRoot = isRoot ? test : test.skip
const image = { runAs: { uid: 10_001, gid: 0 } }

test('settings that cannot be used are named, and so are misspelt and useless ones', async (t) => {
  const wrong = await verdictOf('settings', { PORT: 'many', DB_SSL: 'sometimes' })
  t.is(wrong.status, 'fail')
  t.regex(wrong.detail, /^PORT "many" is not a whole number .*; DB_SSL "sometimes" is none of /)
  t.like(await verdictOf('settings', { DB_PASSWORD: 'x' }), {
    status: 'warn',
    detail: 'DB_PASSWORD is not a setting: did you mean DB_PASS?',
  })
  t.like(await verdictOf('settings', { DB_USER: 'x' }), { status: 'warn' })
  t.like(await verdictOf('settings', { OIDC_CUSTOM_SCOPES: 'openid', POLICY_ENABLED: 'OFF', RELEASE_LEVEL: '1.8.0' }), {
    status: 'warn',
    detail:
      'OIDC_CUSTOM_SCOPES has no effect: it comes with release 1.11.1, and the level of this installation is 1.8.0; POLICY_ENABLED has no effect: it comes with release 1.9.0, and the level of this installation is 1.8.0',
  })
  t.like(await verdictOf('settings', { PORT: '80' }), { status: 'ok' })
  t.like(await verdictOf('settings', { RELEASE_LEVEL: '1.11.2' }), { status: 'ok' })
  t.like(await verdictOf('settings', { RELEASE_LEVEL: '1.11.5' }), {
    status: 'fail',
    detail: 'RELEASE_LEVEL is 1.11.5, and there is no such release',
  })
  t.deepEqual(await verdictOf('disk', { PORT: 'many' }), { status: 'skipped', detail: 'the settings cannot be used' })
})

asRoot('volumes: what root wrote is found before the upgrade, and the fix that is told mends it', async (t) => {
  const folder = path.join(temporaryFolder(t), 'data')
  mkdirSync(path.join(folder, 'journal'), { recursive: true })
  writeFileSync(path.join(folder, 'journal', 'segment'), 'x', { mode: 0o644 })
  for (const [entry, mode] of [
    [folder, 0o755],
    [path.join(folder, 'journal'), 0o755],
  ] as const)
    chmodSync(entry, mode)
  const env = { DATA_DIR: folder }
  const found = await verdictOf('volumes-writable', env, image)
  t.is(found.status, 'fail')
  t.is(found.detail, `uid 10001, gid 0 cannot write ${folder}`)
  const command = found.fix?.replace(/^.*as root: /, '') ?? ''
  t.is(spawnSync('sh', ['-c', command]).status, 0, command)
  t.deepEqual(await verdictOf('volumes-writable', env, image), {
    status: 'ok',
    detail: `${folder} and what is in it can be written by uid 10001, gid 0`,
  })
  chmodSync(path.join(folder, 'journal', 'segment'), 0o600)
  t.like(await verdictOf('volumes-writable', env, image), {
    status: 'fail',
    detail: `uid 10001, gid 0 cannot write ${folder}/journal/segment`,
  })
  t.like(await verdictOf('volumes-writable', env, { runAs: { uid: 55, gid: 55 } }), { status: 'fail' })
  t.like(await verdictOf('volumes-writable', env), { status: 'ok' })
})

asRoot('volumes: an embedded database must belong to the user itself', async (t) => {
  const folder = temporaryFolder(t)
  const data = path.join(folder, 'postgres', 'data')
  mkdirSync(data, { recursive: true })
  spawnSync('sh', ['-c', `chgrp -R 0 ${folder} && chmod -R g=u ${folder} && chmod 700 ${data} && chown -R 55:55 ${data}`])
  const { status, fix } = await verdictOf('volumes-writable', { DATA_DIR: folder }, image)
  t.is(status, 'fail')
  t.regex(fix ?? '', new RegExp(`chown -R 10001 ${folder}/postgres$`))
  chownSync(data, 10_001, 0)
  t.like(await verdictOf('volumes-writable', { DATA_DIR: folder }, image), { status: 'ok' })
})

asRoot('volumes: the process itself is asked, with the rights that it has', async (t) => {
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o755)
  const script = `import { volumesCheck } from '${root}/src/cli/preflight/checks/volumes.ts'
    process.setgid(10001); process.setuid(10001)
    console.log(JSON.stringify(volumesCheck.run({ settings: () => ({ dataDir: '${folder}' }), circumstances: { runAs: null } })))`
  const run = () => JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout) as object
  t.like(run(), { status: 'fail', detail: `uid 10001, gid 10001 cannot write ${folder}` })
  chownSync(folder, 10_001, 0)
  t.like(run(), { status: 'ok' })
})

test('disk: too little room fails, less than the journal may take is a warning', async (t) => {
  const folder = temporaryFolder(t)
  t.like(await verdictOf('disk', { DATA_DIR: path.join(folder, 'not', 'there', 'yet'), LOG_SPOOL_MAX_MB: '1' }), { status: 'ok' })
  const { status, detail } = await verdictOf('disk', { DATA_DIR: folder, LOG_SPOOL_MAX_MB: '1048576000'.slice(0, 7) })
  t.is(status, 'warn')
  t.regex(detail, /^\d+ MiB are free in .*, and request logs may take 1048576 MiB while the database is away$/)
  t.like(judgeRoom({ folder, freeBytes: 1024, freeFiles: null }, 1), { status: 'fail', detail: `only 0 MiB are free in ${folder}` })
  t.like(judgeRoom({ folder, freeBytes: 2 ** 40, freeFiles: 3 }, 1), {
    status: 'fail',
    detail: `only 3 more files can be made in ${folder}`,
  })
})

test('clock and version: the bounds', (t) => {
  t.like(judgeClock(3), { status: 'ok' })
  t.like(judgeClock(-2500), { status: 'warn', detail: 'this machine is 2.5 s ahead of the database' })
  t.like(judgeClock(90_000), { status: 'fail', detail: 'this machine is 90.0 s behind the database' })
  t.like(judgeVersion({ version: '13.9', number: 130_009 }, '>=14 <19'), {
    status: 'fail',
    fix: 'Upgrade PostgreSQL to 14 or newer first.',
  })
  t.like(judgeVersion({ version: '18.1', number: 180_001 }, '>=14 <19'), { status: 'ok' })
  t.like(judgeVersion({ version: '19.0', number: 190_000 }, '>=14 <19'), { status: 'warn' })
})

const database = (host: string, mode: string) => loadConfig({ DB_HOST: host, DB_SSL: mode }).database

test('TLS: the verdict on each mode', (t) => {
  const facts = { protocol: 'TLSv1.3', certificateName: 'db', certificateEnds: new Date(Date.now() + 90 * 86_400_000) }
  t.like(judgePlain(database('127.0.0.1', 'DISABLED')), { status: 'ok' })
  t.like(judgePlain(database('/run/postgresql', 'PREFERRED')), { status: 'ok' })
  t.like(judgePlain(database('db.example.com', 'PREFERRED')), { status: 'warn' })
  t.regex(judgePlain(database('db.example.com', 'DISABLED')).detail, /unencrypted: DB_SSL=DISABLED$/)
  t.deepEqual(judgeEncrypted(database('db.example.com', 'VERIFY_CA'), facts), {
    status: 'ok',
    detail: 'TLSv1.3, and the server proved who it is (DB_SSL=VERIFY_CA)',
  })
  t.regex(judgeEncrypted(database('db.example.com', 'PREFERRED'), facts).detail, /can turn it off or read along/)
  t.like(judgeEncrypted(database('db.example.com', 'REQUIRED'), facts), { status: 'warn' })
  t.like(judgeEncrypted(database('127.0.0.1', 'REQUIRED'), facts), { status: 'ok' })
  const ended = judgeEncrypted(database('db.example.com', 'REQUIRED'), { ...facts, certificateEnds: new Date('2025-01-02T00:00:00Z') })
  t.like(ended, { status: 'warn', detail: 'the certificate of PostgreSQL (db) ended on 2025-01-02' })
})

const withOpenssl = hasOpenssl ? test : test.skip
withOpenssl('certificates: unreadable, empty, broken and expired bundles', async (t) => {
  const folder = temporaryFolder(t)
  const authority = makeAuthority('Ours')
  const file = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text)
    return { NODE_EXTRA_CA_CERTS: path.join(folder, name) }
  }
  t.deepEqual(await verdictOf('ca-bundle', {}), { status: 'ok', detail: "no authorities of your own; Node's are used" })
  t.like(await verdictOf('ca-bundle', { NODE_EXTRA_CA_CERTS: '/nowhere' }), { status: 'fail' })
  t.like(await verdictOf('ca-bundle', file('empty', '')), { status: 'fail', detail: 'NODE_EXTRA_CA_CERTS holds no certificate' })
  const broken = `${authority.cert}\n${authority.cert.replace(/[A-Za-z0-9+/]{20}\n/, 'AAAA\n')}`
  t.like(await verdictOf('ca-bundle', file('broken', broken)), {
    status: 'fail',
    detail: 'certificate 2 of NODE_EXTRA_CA_CERTS cannot be read',
  })
  const ends = makeCertificate(authority, 'soon.example', 2)
  const soon = await verdictOf('ca-bundle', file('soon', ends.cert))
  t.is(soon.status, 'warn')
  t.regex(soon.detail, /^NODE_EXTRA_CA_CERTS: 1 certificate; expired or about to: CN=soon\.example \(until /)
})

const revision = (at: number, status: string) => ({ revision: at, status, chart: 'app-1.6.0' })
const helm = (...history: readonly object[]) =>
  verdictOf(
    'helm-state',
    {},
    { helmRelease: { name: 'gatehouse', namespace: 'gateway' }, helmHistory: parseHistory(JSON.stringify(history)) },
  )

test('Helm: what was cut off, and how to go on', async (t) => {
  t.deepEqual(await helm(revision(2, 'deployed'), revision(1, 'superseded')), {
    status: 'ok',
    detail: 'revision 2 of gatehouse (app-1.6.0) is deployed',
  })
  t.deepEqual(await helm(revision(1, 'superseded'), revision(2, 'deployed'), revision(3, 'pending-upgrade')), {
    status: 'fail',
    detail: 'revision 3 of gatehouse (app-1.6.0) is pending-upgrade: it was cut off, and Helm refuses the next one',
    fix: 'Make sure that no helm runs, then: helm rollback gatehouse 2 -n gateway',
  })
  t.regex((await helm(revision(1, 'pending-install'))).fix ?? '', /kubectl delete secret sh\.helm\.release\.v1\.gatehouse\.v1 -n gateway$/)
  t.like(await helm(revision(1, 'deployed'), revision(2, 'failed')), { status: 'warn' })
  t.like(await helm(), { status: 'ok', detail: 'there is no release gatehouse yet' })
  t.like(await verdictOf('helm-state', {}), { status: 'skipped' })
})
