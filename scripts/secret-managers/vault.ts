import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Control, startControl, type Tenant } from '../../test/integration/features/setup.ts'
import { hasOpenssl } from '../../test/support/certificates.ts'
import { type Emulator, startEmulator } from '../../test/support/emulator/emulator.ts'
import { movedClock } from '../../test/support/moved-clock.ts'
import { startDatabaseServer } from '../database-server.ts'
import type { Report } from '../report.ts'
import { demand, reasonIn } from '../tools.ts'
import { type Fields, inside, readsAll, startTokenReview, startVault, untilActive, type VaultProgram, type VaultServer } from './server.ts'

const { clock, inTime } = movedClock()

/** Everything that the checks use. */
interface Bed {
  readonly kind: VaultProgram
  readonly server: VaultServer
  readonly control: Control
  readonly tenant: Tenant
  readonly emulator: Emulator
}

/** Proves the gateway's use of secrets of a real server of Vault's API, from the control plane to the request at a provider. */
export async function proveVault(report: Report, kind: VaultProgram): Promise<void> {
  const { name } = kind
  const isHere = await kind.make().then(
    () => true,
    (error: unknown) => {
      report.skip(name, `the server cannot be had here: ${reasonIn(error)}`)
      return false
    },
  )
  if (!isHere) return
  if (!hasOpenssl) return report.skip(name, 'the machine has no openssl for the certificate of a cluster')
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-vault-'))
  const database = await startDatabaseServer()
  Object.assign(process.env, database.variables)
  const ends: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true }), () => database.stop()]
  try {
    const bed = await report.check(`${name}: starts, with engines, policies and sign-ins`, () => startBed(kind, folder, ends))
    if (bed !== null) await proveAll(report, bed)
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

async function startBed(kind: VaultProgram, folder: string, ends: (() => unknown)[]): Promise<Bed> {
  const token = unsignedToken
  const file = path.join(folder, 'token')
  await writeFile(file, token)
  const review = await startTokenReview(token)
  ends.push(review.stop)
  const server = await startVault(kind, folder, { podToken: token, reviewer: review.url })
  ends.push(() => server.child.kill('SIGKILL'))
  const emulator = await startEmulator()
  ends.push(() => emulator.stop())
  const control = await startControl(
    { clock },
    {
      SECRET_CACHE_TTL: '1s',
      SECRET_MAX_STALE: '1s',
      SECRET_MANAGER_TIMEOUT: '1s',
      CLOUD_IDENTITY_HOSTS: '127.0.0.1',
      CLOUD_IDENTITY_ORGANISATIONS: 'all',
      KUBERNETES_TOKEN_FILE: file,
    },
  )
  ends.push(() => control.close())
  return { kind, server, control, emulator, tenant: await control.createTenant('acme') }
}

const claims = {
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:gatehouse:gatehouse',
  'kubernetes.io': { namespace: 'gatehouse', serviceaccount: { name: 'gatehouse', uid: 'a' } },
}

/** A token of a service account has the form of a JWT; that it is good is the cluster's word. */
const unsignedToken = [{ alg: 'RS256' }, claims, 'signature']
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')

async function proveAll(report: Report, bed: Bed): Promise<void> {
  const { name, hasNamespaces } = bed.kind
  await report.check(`${name}: a token reads versions 1 and 2, a pinned version and a field`, () => readings(bed))
  if (hasNamespaces) await report.check(`${name}: a token reads in a namespace, and in none that is not there`, () => namespaces(bed))
  await report.check(`${name}: AppRole, a service account of Kubernetes and a JWT sign in`, () => signIns(bed))
  await report.check(`${name}: a token that was revoked is fetched anew, and no request is lost`, () => revoked(bed))
  await report.check(`${name}: what may not be read, what is not there and what was deleted are told apart`, () => refusals(bed))
  await report.check(`${name}: a secret is replaced under traffic, and no request fails`, () => rotation(bed))
  for (const [state, begin, end] of [
    ['sealed', (server: VaultServer) => server.seal(), unsealed],
    ['hangs', (server: VaultServer) => void server.child.kill('SIGSTOP'), (server: VaultServer) => void server.child.kill('SIGCONT')],
  ] as const)
    await report.check(`${name} ${state}: the last good value serves for its time, then 503, then it is back`, () => away(bed, begin, end))
  await report.check(`${name}: no value is in the database or in an answer`, async () => {
    const dump = await bed.control.dump()
    demand(dump.includes('vault-reference-'), 'the dump does not have the references')
    demand(!dump.includes(canary), 'a value is in the database')
    const listed = await call(bed, 'GET', '/secret-references')
    for (const secret of [canary, bed.server.readerToken, bed.server.role.secret])
      demand(!listed.includes(secret), 'a secret is in the list of references')
    demand(!dump.includes(bed.server.readerToken) && !dump.includes(bed.server.role.secret), 'a sign-in is plain in the database')
  })
}

const canary = 'sk-canary'

async function unsealed(server: VaultServer): Promise<void> {
  await server.unseal()
  await untilActive(server.url)
}

async function call({ control, tenant }: Bed, method: string, at: string, body?: unknown): Promise<string> {
  const { status, text } = await control.call(tenant.adminKey, method, at, body)
  if (status !== 200) throw new Error(`${method} ${at} answered ${status} ${text}`)
  return text
}

let count = 0

/** A reference to a secret, and a provider that uses it; returns its slug. */
async function used(bed: Bed, auth: Fields, secret: Fields): Promise<string> {
  const slug = `vault-reference-${++count}`
  const auth_config = { vault_addr: bed.server.url, ...auth }
  await call(bed, 'POST', '/secret-references', { name: slug, slug, manager_type: 'hashicorp_vault', auth_config, ...secret })
  const secret_mappings = [{ target_field: 'key', secret_reference_id: slug }]
  const configurations = { custom_host: bed.emulator.url }
  await call(bed, 'POST', '/integrations', { name: slug, slug, ai_provider_id: 'openai', configurations, secret_mappings })
  return slug
}

interface Chatted {
  readonly status: number
  readonly text: string
}

async function chat({ control, tenant }: Bed, slug: string): Promise<Chatted> {
  const answer = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': tenant.workspaceKey, 'x-service-provider': `@${slug}` },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await answer.text()
  demand(!text.includes(canary), 'a value is in an answer')
  return { status: answer.status, text }
}

const wasSent = ({ emulator }: Bed, value: string): boolean =>
  emulator.requests.some(({ headers }) => headers.authorization === `Bearer ${value}`)

async function isSent(bed: Bed, slug: string, value: string): Promise<void> {
  const { status, text } = await chat(bed, slug)
  demand(status === 200, `${slug}: ${status} ${text}`)
  demand(wasSent(bed, value), `${slug}: the provider was not sent ${value}`)
}

const byToken = ({ server }: Bed): Fields => ({ vault_auth_type: 'token', vault_token: server.readerToken })

const put = ({ server }: Bed, at: string, value: string): Promise<Fields> =>
  server.ask('POST', `secret/data/${at}`, { data: { value, other: 'x' } })

async function readings(bed: Bed): Promise<void> {
  const { ask } = bed.server
  await put(bed, 'team/pinned', `${canary}-old`)
  await put(bed, 'team/pinned', `${canary}-new`)
  await ask('POST', 'kv1/team', { value: `${canary}-kv1` })
  const secret_key = 'value'
  const token = byToken(bed)
  for (const [auth, secret, value] of [
    [token, { secret_path: 'secret/data/team/pinned', secret_key }, 'new'],
    [token, { secret_path: 'secret/team/pinned', secret_key }, 'new'],
    [token, { secret_path: 'secret/team/pinned', secret_key, secret_version: '1' }, 'old'],
    [token, { secret_path: 'kv1/team', secret_key }, 'kv1'],
    [token, { secret_path: 'kv1/team' }, 'kv1'],
  ] as const)
    await isSent(bed, await used(bed, auth, secret), `${canary}-${value}`)
}

async function namespaces(bed: Bed): Promise<void> {
  const { ask } = bed.server
  await ask('POST', 'sys/namespaces/tenants')
  await ask('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } }, 'tenants')
  await ask('POST', 'sys/policies/acl/reads', { policy: readsAll }, 'tenants')
  await ask('POST', 'secret/data/own', { data: { value: `${canary}-namespace` } }, 'tenants')
  const there = inside(await ask('POST', 'auth/token/create', { policies: ['reads'] }, 'tenants'), 'auth', 'client_token')
  const auth = { vault_auth_type: 'token', vault_token: there, vault_namespace: 'tenants' }
  await isSent(bed, await used(bed, auth, { secret_path: 'secret/own', secret_key: 'value' }), `${canary}-namespace`)
  const elsewhere = await used(bed, { ...auth, vault_namespace: 'nowhere' }, { secret_path: 'secret/own' })
  const { status, text } = await chat(bed, elsewhere)
  demand(status === 503 && text.includes('secret_unavailable'), `a namespace that is not there: ${status} ${text}`)
}

const byRole = ({ server }: Bed): Fields => ({
  vault_auth_type: 'approle',
  vault_role_id: server.role.id,
  vault_secret_id: server.role.secret,
})

async function signIns(bed: Bed): Promise<void> {
  const kinds: Readonly<Record<string, Fields>> = {
    approle: byRole(bed),
    kubernetes: { vault_auth_type: 'kubernetes', vault_auth_mount: 'cluster', vault_role: 'gateway' },
    jwt: { vault_auth_type: 'jwt', vault_role: 'gateway', vault_jwt: bed.server.jwt('vault') },
  }
  for (const [kind, auth] of Object.entries(kinds)) {
    await put(bed, kind, `${canary}-${kind}`)
    await isSent(bed, await used(bed, auth, { secret_path: `secret/${kind}`, secret_key: 'value' }), `${canary}-${kind}`)
  }
}

async function revoked(bed: Bed): Promise<void> {
  await put(bed, 'revoked', `${canary}-before`)
  const slug = await used(bed, byRole(bed), { secret_path: 'secret/revoked', secret_key: 'value' })
  await isSent(bed, slug, `${canary}-before`)
  await bed.server.ask('POST', 'sys/leases/revoke-prefix/auth/approle/login')
  await put(bed, 'revoked', `${canary}-after`)
  await inTime(async () => {
    await isSent(bed, slug, `${canary}-before`)
    return wasSent(bed, `${canary}-after`)
  }, 'the value behind a new token')
}

async function refusals(bed: Bed): Promise<void> {
  await put(bed, 'deleted', `${canary}-deleted`)
  await bed.server.ask('DELETE', 'secret/data/deleted')
  const { nobodyToken, jwt } = bed.server
  const secret = { secret_path: 'secret/team/pinned', secret_key: 'value' }
  for (const [auth, wanted, reason] of [
    [{ vault_auth_type: 'token', vault_token: nobodyToken }, secret, 'denied'],
    [{ vault_auth_type: 'token', vault_token: 'of-nobody' }, secret, 'denied'],
    [{ ...byRole(bed), vault_secret_id: 'another' }, secret, 'denied'],
    [{ vault_auth_type: 'jwt', vault_role: 'gateway', vault_jwt: jwt('another') }, secret, 'denied'],
    [{ vault_auth_type: 'kubernetes', vault_auth_mount: 'cluster', vault_role: 'another' }, secret, 'denied'],
    [byToken(bed), { ...secret, secret_version: '9' }, 'missing'],
    [byToken(bed), { secret_path: 'secret/deleted' }, 'missing'],
    [byToken(bed), { secret_path: 'secret/nothing' }, 'missing'],
  ] as const) {
    const slug = await used(bed, auth, wanted)
    const { status, text } = await chat(bed, slug)
    demand(status === 503 && text.includes('secret_unavailable'), `${JSON.stringify({ ...auth, ...wanted })}: ${status} ${text}`)
    await inTime(async () => (await noted(bed, slug)) === reason, `${slug}, noted as ${reason}`)
  }
}

async function noted(bed: Bed, slug: string): Promise<unknown> {
  const { last_error: error } = JSON.parse(await call(bed, 'GET', `/secret-references/${slug}`)) as { last_error: Fields | null }
  return error?.['reason']
}

const atOnce = 8

async function rotation(bed: Bed): Promise<void> {
  await put(bed, 'rotated', `${canary}-first`)
  const slug = await used(bed, byRole(bed), { secret_path: 'secret/rotated', secret_key: 'value' })
  await isSent(bed, slug, `${canary}-first`)
  await put(bed, 'rotated', `${canary}-second`)
  await inTime(async () => {
    const answers = await Promise.all(Array.from({ length: atOnce }, () => chat(bed, slug)))
    for (const { status, text } of answers) demand(status === 200, `${status} ${text}`)
    return wasSent(bed, `${canary}-second`)
  }, 'the new value')
}

type Turn = (server: VaultServer) => void | Promise<void>

async function away(bed: Bed, begin: Turn, end: Turn): Promise<void> {
  await put(bed, 'away', `${canary}-away`)
  const slug = await used(bed, byRole(bed), { secret_path: 'secret/away', secret_key: 'value' })
  await isSent(bed, slug, `${canary}-away`)
  await begin(bed.server)
  try {
    await isSent(bed, slug, `${canary}-away`)
    await inTime(async () => (await chat(bed, slug)).status === 503, 'the end of the last good value')
    await inTime(async () => (await noted(bed, slug)) === 'away', 'the note of the failure')
  } finally {
    await end(bed.server)
  }
  await inTime(async () => (await chat(bed, slug)).status === 200, 'the server that is back')
}
