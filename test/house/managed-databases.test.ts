import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import test from 'ava'
import { dayOf, managedDatabases, managedDatabasesFile } from '../../scripts/managed-databases.ts'
import { gatehouseHere } from '../support/cli.ts'

const text = readFileSync(managedDatabasesFile, 'utf8')
const dayMs = 86_400_000
const warnDays = 90

/** The certificates of each provider, by its name. */
const providers = text
  .split('\n# Provider: ')
  .slice(1)
  .map((part) => ({
    name: part.slice(0, part.indexOf('\n')),
    source: /^# Source: (.+)$/m.exec(part)?.[1],
    certificates: (part.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((pem) => new X509Certificate(pem)),
  }))

test('the authorities of managed databases are what their sources say, with the day and the source', (t) => {
  const day = dayOf(text)
  t.truthy(day)
  t.is(text, managedDatabases(day ?? ''), 'run "npm run managed-databases:generate"')
  t.deepEqual(
    providers.map(({ name }) => name),
    ['Amazon RDS and Aurora', 'Azure Database for PostgreSQL'],
  )
  for (const { name, source } of providers) t.truthy(source, name)
})

test('each of them is an authority that signed itself, and TLS takes the whole file', (t) => {
  for (const { certificates } of providers)
    for (const certificate of certificates) {
      t.true(certificate.ca, certificate.subject)
      t.true(certificate.verify(certificate.publicKey), certificate.subject)
    }
  t.notThrows(() => createSecureContext({ ca: text }))
})

test(`each provider has an authority for ${warnDays} days and longer; else its source has newer ones`, (t) => {
  for (const { name, certificates } of providers) {
    const newest = Math.max(...certificates.map(({ validToDate }) => validToDate.getTime()))
    t.true(newest > Date.now() + warnDays * dayMs, `${name}: update its source, then run "npm run managed-databases:generate"`)
  }
})

for (const mode of ['MANAGED', 'Amazon RDS'])
  test(`DB_SSL="${mode}" believes them`, async (t) => {
    const env = { DB_HOST: '127.0.0.1', DB_PORT: '1', DB_PASS: 'x', DB_SSL: mode, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
    const { stdout } = await gatehouseHere(['preflight', '--json'], { env })
    t.regex(stdout, /docker\/ca\/managed-databases\.pem: 95 certificates/)
  })
