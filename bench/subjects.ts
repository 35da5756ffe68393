import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { EmbeddedDatabase } from '../src/app/database/embedded/embedded.ts'
import { freePort } from '../src/app/database/embedded/port.ts'
import { makeProbe, type Probe } from './probe.ts'
import { hasNginx, launch, portOf, waitUntilServing, type Running } from './processes.ts'

/** The common arguments of all subjects. */
export interface Stand {
  readonly emulatorPort: number
  readonly database: EmbeddedDatabase
  /** For data and output. */
  readonly folder: string
  readonly cores: string
}

/** A proxy that runs. */
export interface Started {
  readonly running: Running
  readonly port: number
  /** Milliseconds from the start of the process to its first 200. */
  readonly coldStartMs: number
  /** Null: it is not Node. */
  readonly probe: Probe | null
}

/** A proxy that can be measured. */
export interface Subject {
  readonly id: string
  readonly label: string
  /** Why it cannot be measured here; null: it can. */
  readonly missing: string | null
  /** Headers that its requests need, name and value. */
  readonly headers: (stand: Stand) => Readonly<Record<string, string>>
  /** Headers that make it answer from its cache; absent: it is not asked to. */
  readonly cachingHeaders?: (stand: Stand) => Readonly<Record<string, string>>
  /** The model that it is asked for; absent: one of OpenAI's. */
  readonly model?: string
  /** So slow that one round and one start must do. */
  readonly slow?: boolean
  /** Another setting of a subject: only the cost of a request is measured. */
  readonly variant?: boolean
  /** A variant whose open streams are measured all the same. */
  readonly holds?: boolean
  /** Its one-time needs, with the first process. */
  readonly prepare?: (stand: Stand, port: number) => Promise<void>
  readonly start: (stand: Stand) => Promise<Started>
}

const root = join(import.meta.dirname, '..')
const peer = join(import.meta.dirname, 'peers/node_modules/@portkey-ai/gateway/build/start-server.js')
export const litellmVersion = '1.93.0'
/** A virtual environment of its own. */
export const litellmFolder = join(import.meta.dirname, 'peers/python')
/** One that is installed already may be named. */
export const litellm = process.env['BENCH_LITELLM'] ?? join(litellmFolder, 'bin/litellm')
const upstream = ({ emulatorPort }: Stand): string => `http://127.0.0.1:${emulatorPort}/v1`
const direct = (): Readonly<Record<string, string>> => ({ authorization: 'Bearer sk-bench' })

/** The program of the image. */
export function buildGatehouse(): void {
  execFileSync(process.execPath, [join(root, 'docker/bundle.mjs')], { stdio: 'inherit' })
}

/** Returns the requests for a subject. */
export const askingOf = ({ headers, cachingHeaders, model }: Subject, stand: Stand) => ({
  headers: headers(stand),
  caching: cachingHeaders?.(stand) ?? null,
  ...(model !== undefined && { model }),
})

/** The flags of `npm start`, so that the shipped form is measured. */
const { scripts } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
export const nodeFlags: readonly string[] =
  /^(?:exec )?node (.*)src\/main\.ts$/
    .exec(scripts.start)?.[1]
    ?.split(' ')
    .filter((flag) => flag !== '') ?? []

const keys = {
  INIT_ADMIN_API_KEY: `bench-admin-${randomBytes(20).toString('hex')}`,
  INIT_WORKSPACE_API_KEY: `bench-workspace-${randomBytes(20).toString('hex')}`,
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
}

async function startNginx(stand: Stand): Promise<Started> {
  const port = await freePort()
  const prefix = join(stand.folder, `nginx-${port}`)
  mkdirSync(prefix, { recursive: true })
  writeFileSync(join(prefix, 'nginx.conf'), nginxConfiguration(port, stand.emulatorPort))
  const running = launch({
    name: 'nginx',
    command: ['nginx', '-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'],
    cores: stand.cores,
    folder: stand.folder,
  })
  return { running, port, coldStartMs: await waitUntilServing(`http://127.0.0.1:${port}/v1/models`, running), probe: null }
}

const nginxConfiguration = (port: number, emulatorPort: number): string => `
daemon off; worker_processes 1; pid nginx.pid; error_log stderr warn;
events { worker_connections 8192; }
http {
  access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream provider { server 127.0.0.1:${emulatorPort}; keepalive 1024; }
  server {
    listen 127.0.0.1:${port}; keepalive_requests 100000000;
    location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
`

async function startBare(stand: Stand): Promise<Started> {
  const probe = makeProbe()
  const startedAt = performance.now()
  const running = launch({
    name: 'bare',
    command: ['node', ...probe.args, join(import.meta.dirname, 'bare-proxy.ts'), upstream(stand)],
    cores: stand.cores,
    env: probe.env,
    folder: stand.folder,
    channel: true,
  })
  const port = await portOf(running)
  await waitUntilServing(`http://127.0.0.1:${port}/v1/models`, running)
  return { running, port, coldStartMs: performance.now() - startedAt, probe }
}

async function startGatehouse(stand: Stand): Promise<Started> {
  const port = await freePort()
  const { database } = stand
  const probe = makeProbe()
  const startedAt = performance.now()
  const running = launch({
    name: 'gatehouse',
    command: ['node', ...nodeFlags, ...probe.args, 'program/main.js'],
    cwd: root,
    cores: stand.cores,
    folder: stand.folder,
    env: {
      ...keys,
      ...probe.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: join(stand.folder, `gatehouse-${port}`),
      DB_HOST: database.host,
      DB_PORT: String(database.port),
      DB_USER: database.user,
      DB_PASS: database.password,
      DB_NAME: database.name,
      DB_SSL: 'DISABLED',
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    },
  })
  await waitUntilServing(`http://127.0.0.1:${port}/readyz`, running)
  return { running, port, coldStartMs: performance.now() - startedAt, probe }
}

/** The slug of the config with a cache, once it is stored. */
let cachingConfig = ''

/** A stored credential with the emulator as its host, a provider `@bench` that uses it, and a config that keeps its answers. */
async function storeProvider(stand: Stand, port: number): Promise<void> {
  await store(port, 'integrations', keys.INIT_ADMIN_API_KEY, {
    name: 'bench',
    ai_provider_id: 'openai',
    key: 'sk-bench',
    configurations: { custom_host: upstream(stand) },
    create_default_provider: true,
    default_provider_slug: 'bench',
  })
  const config = { provider: '@bench', cache: { mode: 'simple', max_age: 3600 } }
  const stored = await store(port, 'configs', keys.INIT_WORKSPACE_API_KEY, { name: 'bench', config })
  cachingConfig = z.object({ data: z.object({ slug: z.string() }) }).parse(stored).data.slug
}

// oxlint-disable-next-line max-params -- target, request, caller
async function store(port: number, kind: string, key: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/${kind}`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`the benchmark's ${kind} could not be stored: ${response.status} ${await response.text()}`)
  return response.json()
}

async function startPortkey(stand: Stand): Promise<Started> {
  const probe = makeProbe()
  const port = await freePort()
  const startedAt = performance.now()
  const running = launch({
    name: 'portkey',
    command: ['node', ...probe.args, peer, '--headless', `--port=${port}`],
    cores: stand.cores,
    folder: stand.folder,
    env: { ...probe.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost', NODE_ENV: 'production' },
  })
  await waitUntilServing(`http://127.0.0.1:${port}/`, running)
  return { running, port, coldStartMs: performance.now() - startedAt, probe }
}

async function startLitellm(stand: Stand): Promise<Started> {
  const port = await freePort()
  const file = join(stand.folder, 'litellm.json')
  const model = { model_name: '*', litellm_params: { model: 'openai/*', api_base: upstream(stand), api_key: 'sk-bench' } }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ model_list: [model] }))
  const startedAt = performance.now()
  const running = launch({
    name: 'litellm',
    command: [litellm, '--config', file, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1', '--telemetry', 'False'],
    cores: stand.cores,
    folder: stand.folder,
    env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR', HOME: stand.folder },
  })
  await waitUntilServing(`http://127.0.0.1:${port}/health/liveliness`, running)
  return { running, port, coldStartMs: performance.now() - startedAt, probe: null }
}

/** The key with limits, once it is stored. */
let limitedKey = ''

/** A key with a budget in dollars and a rate limit that no traffic reaches, beside the stored provider. */
async function storeLimitedKey(_: Stand, port: number): Promise<void> {
  const made = await store(port, 'api-keys/workspace/service', keys.INIT_ADMIN_API_KEY, {
    name: 'limited',
    scopes: ['completions.write'],
    usage_limits: { type: 'cost', credit_limit: 1_000_000_000, on_unpriced: 'allow' },
    rate_limits: [{ type: 'requests', unit: 'rpm', value: 1_000_000_000 }],
  })
  limitedKey = z.object({ key: z.string() }).parse(made).key
}

/** A provider of Anthropic's format, which gets the chats of OpenAI's that are measured in its own words. */
async function storeTranslated(stand: Stand, port: number): Promise<void> {
  await store(port, 'integrations', keys.INIT_ADMIN_API_KEY, {
    name: 'translated',
    ai_provider_id: 'anthropic',
    key: 'sk-bench',
    configurations: { custom_host: upstream(stand) },
    create_default_provider: true,
    default_provider_slug: 'translated',
  })
}

/** The rows of the table, in order. */
export const subjects: readonly Subject[] = [
  {
    id: 'a',
    label: 'nginx, one worker, no log',
    missing: hasNginx ? null : 'nginx is not installed here',
    headers: direct,
    start: startNginx,
  },
  { id: 'b', label: 'bare node:http + undici', missing: null, headers: direct, start: startBare },
  {
    id: 'c',
    label: 'Gatehouse, everything on',
    missing: existsSync(join(root, 'src/main.ts')) ? null : 'src/main.ts is not there',
    headers: () => ({ authorization: `Bearer ${keys.INIT_WORKSPACE_API_KEY}`, 'x-service-provider': '@bench' }),
    cachingHeaders: () => ({ authorization: `Bearer ${keys.INIT_WORKSPACE_API_KEY}`, 'x-service-config': cachingConfig }),
    prepare: storeProvider,
    start: startGatehouse,
  },
  {
    id: 'd',
    label: '@portkey-ai/gateway 1.15.2',
    // Asked late, because the benchmark installs it first.
    get missing() {
      return existsSync(peer) ? null : 'it could not be installed (bench/peers)'
    },
    headers: (stand) => ({ ...direct(), 'x-portkey-provider': 'openai', 'x-portkey-custom-host': upstream(stand) }),
    start: startPortkey,
  },
  {
    id: 'e',
    label: `LiteLLM ${litellmVersion}, one worker`,
    slow: true,
    get missing() {
      return existsSync(litellm) ? null : 'Python or its package could not be had'
    },
    headers: direct,
    start: startLitellm,
  },
  {
    id: 'f',
    label: 'Gatehouse, the same with a budget in dollars and a rate limit',
    variant: true,
    missing: null,
    headers: () => ({ authorization: `Bearer ${limitedKey}`, 'x-service-provider': '@bench' }),
    prepare: storeLimitedKey,
    start: startGatehouse,
  },
  {
    id: 'g',
    label: 'Gatehouse, chats translated for Anthropic',
    variant: true,
    holds: true,
    missing: null,
    headers: () => ({ authorization: `Bearer ${keys.INIT_WORKSPACE_API_KEY}`, 'x-service-provider': '@translated' }),
    model: 'claude-haiku-4-5',
    prepare: storeTranslated,
    start: startGatehouse,
  },
]
