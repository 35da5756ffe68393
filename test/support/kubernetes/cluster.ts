import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { kubernetesPrograms } from '../../../scripts/kubernetes.ts'
import { eventually } from '../eventually.ts'
import { kubeconfigFor } from '../kubernetes-stub.ts'
import { scratch } from '../helm.ts'
import { freePort } from '../../../src/app/database/embedded/port.ts'
import { startControllers } from './controllers.ts'

/** A real API server without nodes; the effects of controllers on Jobs and test pods are played. */
export interface Cluster {
  readonly kubeconfig: string
  readonly api: Api
  /** The outcome of Jobs and pods in a namespace; `Complete` by default. */
  readonly outcomes: Map<string, 'Complete' | 'Failed'>
  stop(): Promise<void>
}

export interface Reply<T> {
  readonly status: number
  readonly body: T
}

/** Asks the API server. */
export type Api = <T = unknown>(method: string, url: string, body?: unknown) => Promise<Reply<T>>

const token = 'test-token'

/** Starts etcd and the API server on free ports; throws with the end of its log when it does not become ready. */
export async function startCluster(): Promise<Cluster> {
  const programs = kubernetesPrograms()
  if (programs === null) throw new Error('the API server is not built')
  const folder = path.join(scratch, 'cluster')
  await mkdir(folder, { recursive: true })
  const [client, peer, secure] = await Promise.all([freePort(), freePort(), freePort()])
  const [etcdUrl, peerUrl, server] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`, `https://127.0.0.1:${secure}`]
  const key = path.join(folder, 'accounts.key')
  await writeFile(key, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(path.join(folder, 'tokens.csv'), `${token},admin,1,system:masters\n`)
  const etcd = run(programs.etcd, folder, {
    'data-dir': path.join(folder, 'etcd'),
    'listen-client-urls': etcdUrl,
    'advertise-client-urls': etcdUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    'unsafe-no-fsync': 'true',
  })
  const apiServer = run(programs.apiServer, folder, {
    'etcd-servers': etcdUrl,
    'cert-dir': path.join(folder, 'certificates'),
    'secure-port': String(secure),
    'bind-address': '127.0.0.1',
    'advertise-address': '10.255.255.1',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': key,
    'service-account-signing-key-file': key,
    'token-auth-file': path.join(folder, 'tokens.csv'),
    'authorization-mode': 'RBAC',
    'service-cluster-ip-range': '10.96.0.0/16,fd00:10:96::/112',
    'disable-admission-plugins': 'ServiceAccount',
  })
  const api = apiClient(secure)
  const ready = () =>
    api('GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    )
  try {
    await eventually(() => ready(), 120_000, 'the API server')
  } catch (error) {
    throw new Error((await readFile(path.join(folder, 'kube-apiserver.log'), 'utf8')).slice(-2000), { cause: error })
  }
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, kubeconfigFor(server, { token }, { 'insecure-skip-tls-verify': true }))
  const outcomes: Cluster['outcomes'] = new Map()
  const controllers = startControllers(api, outcomes)
  return {
    kubeconfig,
    api,
    outcomes,
    async stop() {
      await controllers.stop()
      for (const child of [apiServer, etcd]) {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }
    },
  }
}

function run(program: string, folder: string, flags: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(
    program,
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const log = createWriteStream(path.join(folder, `${path.basename(program)}.log`))
  child.stdout.pipe(log)
  child.stderr.pipe(log)
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

/** The server's certificate is its own, made at its start. */
function apiClient(port: number): Api {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  return async <T>(method: string, url: string, body?: unknown): Promise<Reply<T>> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const asked = request({
      host: '127.0.0.1',
      port,
      path: url,
      method,
      agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
    })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [reply] = (await once(asked, 'response')) as [IncomingMessage]
    const found = await text(reply)
    return { status: reply.statusCode ?? 0, body: (found.startsWith('{') ? JSON.parse(found) : found) as T }
  }
}
