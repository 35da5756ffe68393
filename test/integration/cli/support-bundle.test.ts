import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import { startApp } from '../../support/app.ts'
import { createCanaries, plantPem, readFiles, sightings, type Canary, type Place } from '../../support/canaries.ts'
import { hasOpenssl, makeAuthority } from '../../support/certificates.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { sendJson } from '../../support/http.ts'
import { temporaryFolder } from '../../support/preflight.ts'
import { environment } from '../../support/process.ts'

const canaries = createCanaries()
const plant = (name: string) => canaries.plant(name)
/** One that every encoding changes. */
const plantOdd = (name: string) => canaries.watch(name, `q"u\\o/t&e a%41+${randomBytes(9).toString('base64')}`)
const plantKey = (name: string) => canaries.watch(name, randomBytes(32).toString('base64'))

/** Besides the forms of `sightings`: for URLs, in JSON, in JSON in JSON. */
const spelled = ({ name, value }: Canary): readonly Canary[] => {
  const json = JSON.stringify(value).slice(1, -1)
  const forms = { URL: encodeURIComponent(value), JSON: json, 'JSON in JSON': JSON.stringify(json).slice(1, -1), half: value.slice(0, 16) }
  return [{ name, value }, ...Object.entries(forms).map(([form, text]) => ({ name: `${name} (${form})`, value: text }))]
}
const seen = (places: readonly Place[]) => sightings(canaries.all.flatMap(spelled), places)

/** How a line of a log may spell a secret that the process holds. */
const spellings: readonly ((secret: string) => string)[] = [
  (secret) => `the provider said: no access with ${secret}.`,
  (secret) => JSON.stringify({ level: 'error', msg: `upstream refused ${secret}` }),
  (secret) => JSON.stringify({ body: JSON.stringify({ note: secret }) }),
  (secret) => `GET /v1/models?note=${encodeURIComponent(secret)}&page=1 401`,
  (secret) => `sent ${Buffer.from(`user:${secret}`).toString('base64')}`,
  (secret) => `raw ${Buffer.from(secret).toString('hex')}`,
]

test('forty secrets in every place and spelling, and none in the bundle', async (t) => {
  const folder = temporaryFolder(t)
  const secretFile = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), `${text}\n`)
    return path.join(folder, name)
  }

  // A database that only a login with a secret password opens.
  const database = await testDatabase()
  const login = `gatehouse_bundle_${process.pid}`
  const password = plant('DB_PASS')
  await inDatabase(database.superuser, (client) =>
    client.query(`CREATE ROLE ${login} LOGIN PASSWORD '${password}' IN ROLE ${database.config.user}`),
  )
  t.teardown(async () => {
    await inDatabase(database.superuser, (client) => client.query(`DROP ROLE ${login}`))
    await database.drop()
  })

  const dataDir = path.join(folder, 'data')
  mkdirSync(path.join(dataDir, 'postgres'), { recursive: true })
  secretFile('data/encryption.key', plantKey('the key file'))
  const logins = { superuserPassword: plant('the superuser of the embedded database'), password: plant('the embedded database'), port: 1 }
  writeFileSync(path.join(dataDir, 'postgres', 'logins.json'), JSON.stringify(logins))
  const encryptionKey = plantKey('ENCRYPTION_KEY')
  const pair = hasOpenssl ? makeAuthority('A client') : null
  if (pair !== null) canaries.watch('DB_SSL_KEY', pair.key.split('\n')[1] ?? '')

  const env = {
    ...environment(database.config),
    DB_USER: login,
    DB_PASS: password,
    DATA_DIR: dataDir,
    ENCRYPTION_KEY: encryptionKey,
    ENCRYPTION_KEY_PREVIOUS: `${plantKey('an earlier key')},${plantKey('the key before')}`,
    INIT_ADMIN_API_KEY: '',
    INIT_ADMIN_API_KEY_FILE: secretFile('admin', plant('INIT_ADMIN_API_KEY_FILE')),
    INIT_WORKSPACE_API_KEY: plant('INIT_WORKSPACE_API_KEY'),
    ...(pair !== null && { DB_SSL_CERT: pair.certFile, DB_SSL_KEY: pair.keyFile }),
    OPENAI_API_KEY: plant('OPENAI_API_KEY'),
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: plantOdd('AWS_SECRET_ACCESS_KEY'),
    DATABASE_URL: `postgres://me:${plant('DATABASE_URL')}@db/gatehouse`,
    REDIS_URL: `redis://:${encodeURIComponent(plantOdd('REDIS_URL'))}@cache:6379`,
    HTTPS_PROXY: `http://me:${plant('HTTPS_PROXY')}@proxy:3128`,
    SMTP_PASSWORD_FILE: secretFile('smtp', plantOdd('SMTP_PASSWORD_FILE')),
    VAULT_TOKEN: plant('VAULT_TOKEN'),
    GOOGLE_SERVICE_ACCOUNT_FILE: secretFile(
      'google.json',
      JSON.stringify({ private_key: plantPem(canaries, 'a service account'), project: 'p' }),
    ),
  }

  // A running installation with stored credentials, and rows with secrets that must not be collected.
  const app = await startApp({ database, env: { ENCRYPTION_KEY: encryptionKey } })
  t.teardown(() => app.stop())
  const create = async (resource: string, body: unknown) => {
    const { status, text } = await sendJson(`${app.baseUrl}/v1/${resource}`, { 'x-service-api-key': app.adminKey }, body)
    t.is(status, 200, text)
    return JSON.parse(text) as Record<string, string>
  }
  const custom = { name: 'n', ai_provider_id: 'openai' }
  await create('integrations', { ...custom, slug: 'one', key: plant('an integration') })
  await create('integrations', { ...custom, slug: 'two', key: plantOdd('an odd integration') })
  const bedrock = {
    aws_auth_type: 'accessKey',
    aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    aws_secret_access_key: plantOdd('a secret configuration'),
    aws_region: 'eu-west-1',
  }
  await create('integrations', { name: 'b', slug: 'three', ai_provider_id: 'bedrock', configurations: bedrock })
  await create('virtual-keys', { name: 'v', provider: 'openai', key: plant('a virtual key'), workspace_id: 'default-workspace' })
  const made = await create('api-keys/organisation/service', { name: 'k', scopes: ['logs.list'] })
  canaries.watch('an API key', made['key'] ?? '')
  const known = canaries.all.slice()
  await inDatabase(database.superuser, async (client) => {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM organisations')
    await client.query('SELECT ensure_log_partitions(current_date)')
    await client.query(
      `INSERT INTO logs (id, organisation_id, created_at, api_key_id, client_ip, method, path, operation, status, outcome, stream, duration_ms,
          usage_source, retry_count, cache_status, trace_id, metadata, request_bytes, response_bytes)
        VALUES (gen_random_uuid(), $1, now(), gen_random_uuid(), '', 'POST', $2, 'chat', 401, 'failed', false, 1, 'none', 0, 'miss', $3, $4, 0, 0)`,
      [rows[0]?.id, `/v1/chat/completions?note=${plant('a query')}`, plant('a trace'), { note: plant('metadata') }],
    )
    await client.query(
      `INSERT INTO log_bodies (id, organisation_id, created_at, upstream_url, request_headers, response_headers, request_body, request_truncated, response_truncated)
        VALUES (gen_random_uuid(), $1, now(), $2, $3, '{}', $4, false, false)`,
      [rows[0]?.id, `https://x/?key=${plant('an upstream URL')}`, { note: plant('a header') }, Buffer.from(plant('a body'))],
    )
    await client.query('UPDATE workspaces SET description = $1', [plant('a description')])
    await client.query('UPDATE integrations SET description = $1, configurations = configurations || $2', [
      plant('a note'),
      { custom_host: `https://${plant('a configuration')}.example.com` },
    ])
    await client.query('UPDATE api_keys SET name = $1', [plant('the name of a key')])
  })

  // A log with every known secret in every spelling, and with secrets of others that only their surroundings give away.
  const log = [
    ...known.flatMap(({ value }) => spellings.map((spell) => spell(value))),
    `{"headers":{"authorization":"Bearer ${plant('a bearer')}"}}`,
    `password=${plant('an assignment')} host=db`,
    `{"password":"${plant('a quoted password')} with blanks"}`,
    `postgres://me:${plant('a connection string')}/a@b@db:5432/x?sslmode=require failed`,
    String.raw`{"body":"{\"client_secret\":\"${plant('an escaped secret')}\"}"}`,
    `x-api-key: ${plant('a header in a log')}`,
    `cookie: session=${plant('a cookie')}; theme=dark`,
    plantPem(canaries, 'a private key in a log'),
    `PGPASSWORD=${plant('PGPASSWORD')} psql`,
    'the last line says nothing special: 4711',
  ].join('\n')
  const logFile = path.join(folder, 'gatehouse.log')
  writeFileSync(logFile, log)
  writeFileSync(path.join(dataDir, 'postgres.log'), `connection with password "${plant('the log of PostgreSQL')}" refused\n`)
  t.true(canaries.all.length >= 40, String(canaries.all.length))
  t.true(new Set(seen([{ name: 'log', text: log }]).map((sighting) => sighting.replace(/ (?:\(.*)?in .*/, ''))).size > 25)

  const output = path.join(folder, 'bundle.tar.gz')
  const { status, stdout, stderr } = await gatehouseHere(
    ['support-bundle', '-o', output, '--url', app.baseUrl, '--log-file', logFile, '--json'],
    { env },
  )
  t.is(status, 0, stderr)
  t.is(statSync(output).mode & 0o777, 0o600)
  const unpacked = path.join(folder, 'unpacked')
  mkdirSync(unpacked)
  t.is(spawnSync('tar', ['-xzf', output, '-C', unpacked]).status, 0)
  const files = await readFiles(path.join(unpacked, 'bundle'))

  t.deepEqual(
    seen([
      ...files,
      { name: 'the archive', text: gunzipSync(readFileSync(output)).toString('latin1') },
      { name: 'output', text: stdout + stderr },
    ]),
    [],
  )

  // It is not empty, and texts that are no secrets are still there.
  const text = (name: string) => files.find((file) => file.name === `file ${name}`)?.text ?? ''
  const manifest = JSON.parse(text('manifest.json')) as {
    files: { path: string; redactions: { by_value: number } }[]
    gaps: string[]
    missing: unknown[]
  }
  t.deepEqual(manifest.missing, [])
  t.deepEqual(manifest.gaps, [])
  t.deepEqual(['manifest.json', ...manifest.files.map((file) => file.path)].toSorted(), files.map(({ name }) => name.slice(5)).toSorted())
  t.true((manifest.files.find((file) => file.path === 'logs/1-gatehouse.log')?.redactions.by_value ?? 0) >= 100)
  t.regex(text('logs/1-gatehouse.log'), /the provider said: no access with \[secret DB_PASS\]\./)
  t.regex(text('logs/1-gatehouse.log'), /the last line says nothing special: 4711$/)
  t.like(JSON.parse(text('health/readyz.json')), { status: 200, body: { status: 'ready' } })
  t.regex(text('health/metrics.txt'), /gateway_log_spool_bytes 0/)
  t.like(JSON.parse(text('recent.json')), { failed_exchanges: [{ status: 401, path: '/v1/chat/completions' }] })
  t.regex(text('settings.json'), /"name": "DB_HOST",\s+"value": "127\.0\.0\.1"/)
  t.true((JSON.parse(text('preflight.json')) as unknown[]).length > 10)
  t.true(Array.isArray((JSON.parse(text('postgres.json')) as Record<string, unknown>)['tables']))
  for (const { name, text: content } of files) if (name.endsWith('.json')) t.notThrows(() => JSON.parse(content) as unknown, name)
})

test('without a database and a process there is still a bundle, and it says what it lacks', async (t) => {
  const folder = temporaryFolder(t)
  const output = path.join(folder, 'b.tar.gz')
  const env = { DB_HOST: '127.0.0.1', DB_PORT: '1', DATA_DIR: folder, PORT: '1' }
  const { status, stdout, stderr } = await gatehouseHere(['support-bundle', '-o', output], { env })
  t.is(status, 0)
  t.is(stdout, `${output}\n`)
  t.regex(stderr, /^collecting versions\ncollecting settings\n/)
  t.regex(stderr, /careful: stored credentials are not known: the database cannot be reached\n$/)
  const { stdout: manifest } = spawnSync('tar', ['-xzOf', output, 'b/manifest.json'], { encoding: 'utf8' })
  t.like(JSON.parse(manifest), { missing: [{ what: 'health' }, { what: 'release history', why: 'the database cannot be reached' }] })
  t.like(await gatehouseHere(['support-bundle', '-o', output], { env }), { status: 1, stdout: '' })
  t.is((await gatehouseHere(['support-bundle', '--log-mib', 'much'], { env })).status, 2)
  for (const log of [path.join(folder, 'nowhere.log'), folder]) {
    const refused = await gatehouseHere(['support-bundle', '-o', path.join(folder, 'c.tar.gz'), '--log-file', log], { env })
    t.like(refused, { status: 2, stdout: '' })
    t.regex(refused.stderr, /^error: --log-file \S+ (?:cannot be read \(ENOENT|is a folder)/)
  }
})
