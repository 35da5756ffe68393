import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findProjectPath } from '../../../app/database/project-path.ts'
import { fail, ok, warn, type Check, type Verdict } from '../check.ts'

const warnDays = 21
const dayMs = 86_400_000

/** Certificates that the operator gave, and where they came from. */
interface Bundle {
  readonly name: string
  /** Null: it cannot be read. */
  readonly pem: string | null
}

/** The authorities of DB_SSL=MANAGED without DB_SSL_CA. */
const managed = 'docker/ca/managed-databases.pem'

const findPem = (file: string) => {
  const found = findProjectPath(file)
  return found === null ? null : read(found)
}

/** Checks that the given certificates can be used. */
export const caBundleCheck: Check = {
  id: 'ca-bundle',
  about:
    'The certificates of `NODE_EXTRA_CA_CERTS` (authorities of your own, also for providers), `DB_SSL_CA` and `DB_SSL_CERT`, and with `DB_SSL=MANAGED` those that come along for managed databases, can be read and are valid.',
  remedy:
    'Give PEM files that the process can read; renew expired ones. Node skips a `NODE_EXTRA_CA_CERTS` that it cannot read without a word.',
  quick: true,
  run(stage) {
    const extra = stage.env['NODE_EXTRA_CA_CERTS']
    const { ssl } = stage.settings().database
    const bundles: readonly Bundle[] = [
      ...(extra ? [{ name: 'NODE_EXTRA_CA_CERTS', pem: read(extra) }] : []),
      ...(ssl.ca === null ? [] : [{ name: 'DB_SSL_CA', pem: ssl.ca }]),
      ...(ssl.cert === null ? [] : [{ name: 'DB_SSL_CERT', pem: ssl.cert }]),
      ...(ssl.mode === 'MANAGED' && ssl.ca === null ? [{ name: managed, pem: findPem(managed) }] : []),
    ]
    return worst(bundles.map(judgeBundle)) ?? ok("no authorities of your own; Node's are used")
  },
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function judgeBundle({ name, pem }: Bundle): Verdict {
  const blocks = pem?.match(/-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g) ?? []
  const fix = `Let ${name} name a PEM file that this user can read.`
  if (pem === null) return fail(`${name} names a file that cannot be read; its authorities are not trusted`, fix)
  if (blocks.length === 0) return fail(`${name} holds no certificate`, fix)
  const certificates = blocks.map(parse)
  const broken = certificates.indexOf(null)
  if (broken !== -1) return fail(`certificate ${broken + 1} of ${name} cannot be read`, fix)
  return judgeDates(
    name,
    certificates.flatMap((certificate) => certificate ?? []),
  )
}

function parse(block: string): X509Certificate | null {
  try {
    return new X509Certificate(block)
  } catch {
    return null
  }
}

/** Public bundles always hold some that have ended; in a bundle of one's own each one matters. */
const fewest = 10

function judgeDates(name: string, certificates: readonly X509Certificate[]): Verdict {
  const ending = certificates.filter(({ validToDate }) => validToDate.getTime() - Date.now() < warnDays * dayMs)
  const count = `${name}: ${certificates.length} certificate${certificates.length === 1 ? '' : 's'}`
  if (ending.length === 0 || certificates.length - ending.length >= fewest) return ok(count)
  const named = ending.map(({ subject, validTo }) => `${subject.replaceAll('\n', ', ')} (until ${validTo})`).join('; ')
  const over = ending.length === certificates.length && ending.every(({ validToDate }) => validToDate.getTime() < Date.now())
  return (over ? fail : warn)(`${count}; ${over ? 'expired' : 'expired or about to'}: ${named}`, 'Renew these certificates.')
}

/** The worst of the verdicts, or, when all are good, their texts together. */
function worst(verdicts: readonly Verdict[]): Verdict | null {
  const bad = verdicts.find(({ status }) => status === 'fail') ?? verdicts.find(({ status }) => status === 'warn')
  if (bad !== undefined || verdicts.length === 0) return bad ?? null
  return ok(verdicts.map(({ detail }) => detail).join('; '))
}
