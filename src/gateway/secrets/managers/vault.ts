import type { ApiError } from '../../../lib/errors.ts'
import { isFields, type Fields } from '../../../lib/json/fields.ts'
import { cachesOf } from '../../credentials/auth-caches.ts'
import { fingerprint, malformed } from '../../credentials/credential.ts'
import { parseRecord } from '../../credentials/token-endpoint.ts'
import { readToken } from '../../credentials/web-identity.ts'
import { demandTrusted, demandWorkload, noServices } from '../../credentials/workload/trusted-host.ts'
import type { SmallResponse } from '../../egress/egress.ts'
import { reasonOf, secretFault } from '../fault.ts'
import type { SecretReference } from '../secret-reference.ts'
import { askManager, type ManagerDeps, refusedBy } from './ask-manager.ts'
import { withoutEnd } from '../../../lib/text/without-end.ts'

const manager = 'Vault'

type Auth = SecretReference['auth']

/**
 * Reads a secret of HashiCorp Vault (or OpenBao) as the JSON object that it is. `path`: as in its API, `secret/data/team` or `secret/team`;
 * a mount of version 2 is found by itself when it is the first segment. `version`: of a secret of version 2.
 */
export async function readVaultSecret({ auth, path, version }: SecretReference, deps: ManagerDeps): Promise<string> {
  const held = await tokenOf(auth, deps)
  try {
    return await readWith(held.token, { auth, path, version }, deps)
  } catch (error) {
    // A token that was revoked before its time: sign in once more if possible.
    if (reasonOf(error) !== 'denied' || held.forget === null) throw error
    held.forget()
    return readWith((await tokenOf(auth, deps)).token, { auth, path, version }, deps)
  }
}

type VaultSecret = Pick<SecretReference, 'auth' | 'path' | 'version'>

async function readWith(token: string, { auth, path, version }: VaultSecret, deps: ManagerDeps): Promise<string> {
  const query = version === null ? '' : `?version=${encodeURIComponent(version)}`
  const get = (at: string) => ask({ auth, token, method: 'GET', path: at + query }, deps)
  const plain = encodePath(path)
  const versioned = versionedPath(plain)
  const first = await get(plain)
  const mayBeVersioned = versioned !== null && (first.status === 404 || first.status === 403)
  const second = mayBeVersioned ? await get(versioned) : null
  // A policy that grants the versioned path alone refuses the plain one: the answer of the former is then right, also that there is no secret.
  const answer = second?.status === 200 || (second?.status === 404 && first.status === 403) ? second : first
  if (answer.status !== 200) throw refused(answer)
  return JSON.stringify(fieldsOf(parseRecord(answer.text)?.['data']))
}

/** A secret of version 2 stands within `data`, beside its metadata; one that was deleted has metadata alone. */
function fieldsOf(data: unknown): Fields {
  const isVersioned = isFields(data) && isFields(data['metadata']) && (data['data'] === null || isFields(data['data']))
  const fields = isVersioned ? data['data'] : data
  if (fields === null) throw refusedBy(manager, 404, 'deleted')
  if (!isFields(fields)) throw secretFault('odd', `${manager} gave an answer without a secret.`)
  return fields
}

const encodePath = (path: string): string =>
  path
    .replace(/^\/+/, '')
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/')

/** The path by which the API of version 2 reads a secret; null: it is one already. */
function versionedPath(path: string): string | null {
  const [mount = '', next, ...rest] = path.split('/')
  return next === undefined || next === 'data' ? null : [mount, 'data', next, ...rest].join('/')
}

interface VaultCall {
  readonly auth: Auth
  readonly token: string | null
  readonly method: 'GET' | 'POST'
  /** Below `/v1/`. */
  readonly path: string
  readonly body?: string
}

function ask({ auth, token, method, path, body }: VaultCall, deps: ManagerDeps): Promise<SmallResponse> {
  const headers: Record<string, string> = { accept: 'application/json', 'x-vault-request': 'true' }
  if (token !== null) headers['x-vault-token'] = token
  if (auth['vault_namespace']) headers['x-vault-namespace'] = auth['vault_namespace']
  if (body !== undefined) headers['content-type'] = 'application/json'
  const url = `${withoutEnd(auth['vault_addr'] ?? '', '/')}/v1/${path}`
  return askManager(manager, { url, method, headers, ...(body !== undefined && { body }) }, deps)
}

/** Vault reports in words that it is sealed; its status alone is that of its every fault. */
function refused({ status, text }: SmallResponse): ApiError {
  return refusedBy(manager, status, /"Vault is sealed"/i.test(text) ? 'sealed' : null)
}

interface HeldToken {
  readonly token: string
  /** Null: the token was given and not fetched. */
  readonly forget: (() => void) | null
}

async function tokenOf(auth: Auth, deps: ManagerDeps): Promise<HeldToken> {
  const kind = auth['vault_auth_type'] ?? ''
  if (kind === 'token') return { token: headerText(auth['vault_token'] ?? '', 'vault_token'), forget: null }
  const signIn = signIns[kind]
  if (signIn === undefined) throw malformed('vault_auth_type', 'is not known')
  const { tokens } = cachesOf(deps.egress)
  const key = fingerprint('vault', JSON.stringify(Object.entries(auth).toSorted(([a], [b]) => (a < b ? -1 : 1))))
  const token = await tokens.get(key, deps.now(), async () =>
    logIn(auth, { mount: auth['vault_auth_mount'] || kind, body: await signIn(auth, deps) }, deps),
  )
  return { token, forget: () => tokens.forget(key) }
}

type SignIn = (auth: Auth, deps: ManagerDeps) => Promise<Fields>

/** The pod's own token goes only to a Vault that the operator trusts with it. */
const byWorkload: SignIn = async (auth, deps) => {
  const workload = demandWorkload(deps, 'auth_config.vault_auth_type')
  demandTrusted(auth['vault_addr'] ?? '', { param: 'auth_config.vault_addr', services: noServices }, workload)
  return { role: auth['vault_role'], jwt: await readToken(workload.serviceAccountTokenFile, manager) }
}

const signIns: Readonly<Record<string, SignIn>> = {
  approle: async (auth) => ({ role_id: auth['vault_role_id'], secret_id: auth['vault_secret_id'] }),
  kubernetes: byWorkload,
  jwt: (auth, deps) => (auth['vault_jwt'] ? Promise.resolve({ role: auth['vault_role'], jwt: auth['vault_jwt'] }) : byWorkload(auth, deps)),
}

interface LogIn {
  readonly mount: string
  readonly body: Fields
}

async function logIn(auth: Auth, { mount, body }: LogIn, deps: ManagerDeps) {
  const answer = await ask({ auth, token: null, method: 'POST', path: `auth/${encodePath(mount)}/login`, body: JSON.stringify(body) }, deps)
  // A role, a secret id or a token that is not good is a 400.
  if (answer.status === 400) throw refusedBy(manager, 403, 'login refused')
  if (answer.status !== 200) throw refused(answer)
  const { auth: given } = parseRecord(answer.text) ?? {}
  const token = isFields(given) ? given['client_token'] : undefined
  if (!isFields(given) || typeof token !== 'string') throw secretFault('odd', `${manager} gave no token.`)
  const seconds = Number(given['lease_duration'])
  // A token without an end has 0.
  const lifeMs = seconds > 0 ? seconds * 1000 : longestTokenMs
  return { value: headerText(token, 'client_token'), usableUntil: deps.now() + Math.min(lifeMs, longestTokenMs) * 0.9 }
}

const longestTokenMs = 3_600_000

function headerText(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw malformed(name, 'is not a token')
}
