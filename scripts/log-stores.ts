// Proves the log stores against real servers: `npm run log-stores`. Those of npm are installed into .tools/, with the SDKs of their vendors that read
// the objects back; those of Go and Python run where the machine has Go or Python, else their checks print SKIPPED.
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { LogStoreError } from '../src/app/log-store/log-store.ts'
import { openLogStore } from '../src/app/log-store/open-log-store.ts'
import { workloadOf } from '../src/app/secret-managers/workload-of.ts'
import { loadConfig } from '../src/config/index.ts'
import type { Egress } from '../src/gateway/egress/egress.ts'
import { createEgress } from '../src/gateway/egress/create-egress.ts'
import { freePort } from '../src/app/database/embedded/port.ts'
import { Report } from './report.ts'
import { answering, demand, digest, goProgram, madeOnce, moto, pythonProgram, reasonIn, run } from './tools.ts'

const ours = path.join(import.meta.dirname, 'object-servers')
const report = new Report('log stores')

/** A server that was started, and how the product and the vendor's SDK reach it. */
interface Server {
  readonly env: Readonly<Record<string, string>>
  /** The arguments of `read-back.mjs`; null: no SDK of the vendor reads it. */
  readonly sdk: { readonly vendor: 's3' | 'azure' | 'gcs'; readonly options: Readonly<Record<string, string>> } | null
  /** The setting whose change makes a credential that is refused; null: the server takes every one. */
  readonly secret: string | null
}

interface Kind {
  readonly name: string
  /** Returns the program and its arguments; throws where it cannot be had. */
  readonly provide: (port: number, folder: string) => Promise<readonly [program: string, ...args: string[]]>
  readonly server: (port: number) => Server
  /** Makes the bucket, where the start does not. */
  readonly prepare?: (server: Server, port: number) => Promise<void>
}

const bucket = 'logs'
const host = (port: number) => `http://127.0.0.1:${port}`

const s3Server = (port: number, keys: { readonly id: string; readonly secret: string }, proves = true): Server => ({
  env: {
    LOG_STORE: 's3_custom',
    LOG_STORE_BASEPATH: host(port),
    LOG_STORE_GENERATIONS_BUCKET: bucket,
    LOG_STORE_REGION: 'us-east-1',
    LOG_STORE_ACCESS_KEY: keys.id,
    LOG_STORE_SECRET_KEY: keys.secret,
  },
  sdk: { vendor: 's3', options: { endpoint: host(port), region: 'us-east-1', bucket, ...keys } },
  secret: proves ? 'LOG_STORE_SECRET_KEY' : null,
})

/** Google takes HMAC keys at its XML API alone, which is S3's with another region: a server of S3 checks the signatures. */
const hmacServer = (port: number, keys: { readonly id: string; readonly secret: string }): Server => {
  const { env, sdk, secret } = s3Server(port, keys)
  const { LOG_STORE_REGION: _, ...others } = env
  return { env: { ...others, LOG_STORE: 'gcs' }, sdk: sdk && { ...sdk, options: { ...sdk.options, region: 'auto' } }, secret }
}

const federatedServer = (port: number): Server => ({
  env: {
    LOG_STORE: 'gcs_assume',
    LOG_STORE_BASEPATH: host(port),
    LOG_STORE_GENERATIONS_BUCKET: bucket,
    LOG_STORE_REGION: 'eu-west-1',
    LOG_STORE_ACCESS_KEY: 'AKIA',
    LOG_STORE_SECRET_KEY: 'a secret of AWS',
    GCP_WIF_AUDIENCE: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/aws',
    GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'logs@project.iam.gserviceaccount.com',
  },
  sdk: { vendor: 'gcs', options: { endpoint: host(port), bucket } },
  secret: null,
})

/** The account that Azurite documents. */
const azurite = {
  id: 'devstoreaccount1',
  secret: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
}

const kinds: readonly Kind[] = [
  {
    name: 'azure at Azurite',
    provide: async (port, folder) => [
      process.execPath,
      path.join(await npmServers(), 'node_modules/azurite/dist/src/blob/main.js'),
      '--blobHost=127.0.0.1',
      `--blobPort=${port}`,
      `--location=${folder}`,
      '--silent',
      '--skipApiVersionCheck',
    ],
    server: (port) => ({
      env: {
        LOG_STORE: 'azure',
        LOG_STORE_BASEPATH: `${host(port)}/${azurite.id}`,
        AZURE_STORAGE_ACCOUNT: azurite.id,
        AZURE_STORAGE_KEY: azurite.secret,
        AZURE_STORAGE_CONTAINER: bucket,
      },
      sdk: { vendor: 'azure', options: { endpoint: `${host(port)}/${azurite.id}`, container: bucket, ...azurite } },
      secret: 'AZURE_STORAGE_KEY',
    }),
    prepare: async (server) => void (await readBack(server, '')),
  },
  {
    name: 's3_custom at s3rver',
    provide: async (port, folder) => [
      process.execPath,
      path.join(await npmServers(), 'node_modules/s3rver/bin/s3rver.js'),
      '-a',
      '127.0.0.1',
      '-p',
      String(port),
      '-d',
      folder,
      '--configure-bucket',
      bucket,
      '--silent',
    ],
    server: (port) => s3Server(port, { id: 'S3RVER', secret: 'S3RVER' }, false),
  },
  {
    name: 's3_custom at versitygw',
    provide: (port, folder) => versitygw(port, folder, 'us-east-1'),
    server: (port) => s3Server(port, versityKeys),
  },
  {
    name: 'gcs by HMAC keys at versitygw',
    provide: (port, folder) => versitygw(port, folder, 'auto'),
    server: (port) => hmacServer(port, versityKeys),
  },
  {
    name: 'gcs_assume at fake-gcs-server',
    provide: async (port) => [
      await goProgram('github.com/fsouza/fake-gcs-server@v1.56.1'),
      '-scheme=http',
      '-host=127.0.0.1',
      `-port=${port}`,
      '-backend=memory',
      '-log-level=error',
    ],
    server: federatedServer,
    prepare: async (_, port) =>
      void (await fetch(`${host(port)}/storage/v1/b?project=project`, { method: 'POST', body: JSON.stringify({ name: bucket }) })),
  },
  {
    name: 's3_custom at moto',
    provide: async (port) => [await pythonProgram(moto, 'moto_server'), '-H', '127.0.0.1', '-p', String(port)],
    server: (port) => s3Server(port, { id: 'any', secret: 'any' }, false),
    prepare: async (_, port) => void (await fetch(`${host(port)}/${bucket}`, { method: 'PUT' })),
  },
]

const versityKeys = { id: 'gatehouse', secret: 'a-secret' }

async function versitygw(port: number, folder: string, region: string): ReturnType<Kind['provide']> {
  const root = path.join(folder, 'gw')
  await mkdir(path.join(root, bucket), { recursive: true })
  const program = await goProgram('github.com/versity/versitygw/cmd/versitygw@v1.8.0')
  const { id, secret } = versityKeys
  return [program, '--port', `127.0.0.1:${port}`, '--region', region, '--access', id, '--secret', secret, 'posix', root]
}

/** Installs the servers of npm, once for each lock. */
async function npmServers(): Promise<string> {
  const lock = await readFile(path.join(ours, 'package-lock.json'), 'utf8')
  return madeOnce(`object-servers-${digest(lock)}`, async (scratch) => {
    await cp(ours, scratch, { recursive: true })
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: scratch })
  })
}

/** Reads an object with the SDK of the vendor. */
async function readBack({ sdk }: Server, key: string): Promise<string> {
  if (sdk === null) return ''
  const program = path.join(await npmServers(), 'read-back.mjs')
  return (await run(process.execPath, [program, sdk.vendor, JSON.stringify(sdk.options), key], { maxBuffer: 64 * 1024 * 1024 })).stdout
}

const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 5_000 })

/** Google's token services have no server that installs; the requests to them are proved by `test/unit/app/log-store.test.ts`. */
const tokens: readonly (readonly [url: string, answer: () => object])[] = [
  ['https://sts.googleapis.com/', () => ({ access_token: 'federated', expires_in: 3600 })],
  [
    'https://iamcredentials.googleapis.com/',
    () => ({ accessToken: 'impersonated', expireTime: new Date(Date.now() + 3_600_000).toISOString() }),
  ],
]
const egressWithTokens: Egress = {
  ...egress,
  async exchange(request) {
    const found = tokens.find(([url]) => request.url.startsWith(url))
    if (found === undefined) return egress.exchange(request)
    const text = JSON.stringify(found[1]())
    return { status: 200, headers: {}, bytes: Buffer.from(text), text }
  },
}

const storeAt = (env: Server['env']) => {
  const { logStore, identity } = loadConfig({ DB_HOST: 'localhost', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), ...env })
  if (logStore === null) throw new Error('the settings name no log store')
  return openLogStore(logStore, { egress: egressWithTokens, now: Date.now, workload: workloadOf(identity, new Set()) })
}

const key = '90/0198-org/0198-workspace/2026/11/23/06/0198-log.json'

async function prove(server: Server): Promise<void> {
  const store = storeAt(server.env)
  const object = Buffer.from(JSON.stringify({ text: 'größe ☀', long: 'x'.repeat(3_000_000) }))
  demand((await store.get(key)) === null, 'an object that is not there must be null')
  await store.put(key, Buffer.from('{"first":true}'))
  await store.put(key, object)
  demand(object.equals((await store.get(key)) ?? Buffer.alloc(0)), 'the object did not come back as it was written last')
  if (server.sdk !== null) demand((await readBack(server, key)) === object.toString(), 'the SDK of the vendor reads something else')
}

async function proveRefusal({ env, secret }: Server): Promise<void> {
  if (secret === null) return
  const other = { ...env, [secret]: Buffer.from('another secret').toString('base64') }
  const refused = await storeAt(other)
    .put(key, Buffer.from('{}'))
    .then(
      () => null,
      (error: unknown) => error,
    )
  demand(refused instanceof LogStoreError && refused.message.includes('403'), `a wrong secret must be refused, and was: ${String(refused)}`)
}

async function proveKind({ name, provide, server: serverAt, prepare }: Kind): Promise<void> {
  const [port, folder] = await Promise.all([freePort(), mkdtemp(path.join(tmpdir(), 'gatehouse-objects-'))])
  const [program, ...args] = await provide(port, folder).catch((error: unknown) => {
    report.skip(name, `the server cannot be had here: ${reasonIn(error)}`)
    return []
  })
  if (program === undefined) return
  const child = spawn(program, args, { stdio: 'ignore' })
  try {
    const server = serverAt(port)
    const started = await report.check(`${name}: starts`, async () => {
      await answering(host(port), child)
      await prepare?.(server, port)
      return true
    })
    if (started === null) return
    await report.check(`${name}: objects are written, replaced, read, and read by the vendor's SDK`, () => prove(server))
    if (server.secret !== null) await report.check(`${name}: a wrong secret is refused and told`, () => proveRefusal(server))
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

for (const kind of kinds) await proveKind(kind)
await egress.close()
report.end()
