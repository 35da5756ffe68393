import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { programFile } from '../../support/program.ts'
import { eventually } from '../../support/eventually.ts'
import { helmTest, objects, oneOf, podOf, scratch, type KubernetesObject, type Rendering } from '../../support/helm.ts'
import { freePort } from '../../../src/app/database/embedded/port.ts'
import { publishedChart } from '../../support/published-chart.ts'
import { nodeEnvironment } from '../../support/node-environment.ts'

// The commands of the chart's pods, run here: with the same settings and mounted files, on a real PostgreSQL.

/** The contents of the operator's Secrets, by name. */
const secretsOf = (database: TestDatabase): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  gatehouse: { 'encryption-key': randomBytes(32).toString('base64'), admin: 'gh-admin-key-of-the-chart-test-000000000' },
  'gatehouse-database': { password: database.config.password?.reveal() ?? '' },
})

const valuesFor = ({ config }: TestDatabase, port: number) => ({
  image: { tag: '1.12.0' },
  database: {
    host: config.host,
    port: config.port,
    name: config.name,
    user: config.user,
    existingSecret: 'gatehouse-database',
    ssl: { mode: config.ssl.mode },
  },
  secrets: { existingSecret: 'gatehouse', keys: { initAdminApiKey: 'admin' } },
  settings: { port, drainDelay: '50ms', terminationGrace: '5s' },
})

interface Command {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The command of a pod, with its volumes as folders of this machine. */
function commandOf(object: KubernetesObject, secrets: ReturnType<typeof secretsOf>): Command {
  const pod = podOf(object)
  const folder = mkdtempSync(path.join(scratch, 'pod-'))
  const mounted = pod?.spec.volumes?.find(({ name }) => name === 'mounted')?.projected?.sources ?? []
  for (const { secret } of mounted)
    for (const { key, path: at } of secret?.items ?? []) {
      const file = path.join(folder, 'etc/gatehouse', at)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, secrets[secret?.name ?? '']?.[key] ?? '')
    }
  mkdirSync(path.join(folder, 'data'))
  const here = (value: string) => value.replace(/^(?=\/etc\/gatehouse\/|\/data$)/, folder)
  const env = Object.fromEntries(Object.entries(pod?.env ?? {}).map(([name, value]) => [name, here(value)]))
  // A test takes no more of this machine's addresses than it needs.
  return { args: pod?.container.args ?? [], env: { ...env, HOST: '127.0.0.1', KUBERNETES_SERVICE_HOST: '10.96.0.1' } }
}

/** Runs it as the image's entry point would; it ends with the test at the latest. */
function start(t: ExecutionContext, { args, env }: Command) {
  const child = spawn(process.execPath, [programFile('gatehouse'), ...args], {
    env: { ...nodeEnvironment, ...env },
  })
  t.teardown(() => void child.kill('SIGKILL'))
  const ended = Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, 'close')])
  return {
    child,
    /** Resolves with its exit code and all that it printed. */
    end: async () => {
      const [stdout, stderr] = await ended
      return { code: child.exitCode, output: `${stdout.toString()}${stderr.toString()}` }
    },
  }
}

helmTest('pods wait for the migration, serve with the settings of the chart, pass its test, and end when they are told to', async (t) => {
  const database = await testDatabase({ empty: true })
  t.teardown(() => database.drop())
  const port = await freePort()
  const secrets = secretsOf(database)
  const list = await objects('4', { values: valuesFor(database, port) })
  const deployment = oneOf(list, 'Deployment')
  const { container } = podOf(deployment) ?? {}
  const probe = async (which: 'startupProbe' | 'livenessProbe' | 'readinessProbe') =>
    fetch(`http://127.0.0.1:${port}${container?.[which]?.httpGet?.path}`).then(
      ({ status }) => status,
      () => 0,
    )

  const server = start(t, commandOf(deployment, secrets))
  await eventually(async () => (await probe('startupProbe')) === 200, 30_000, 'the process to listen')
  t.deepEqual([await probe('livenessProbe'), await probe('readinessProbe')], [200, 503])

  const migrated = await start(t, commandOf(oneOf(list, 'Job'), secrets)).end()
  t.is(migrated.code, 0, migrated.output)
  await eventually(async () => (await probe('readinessProbe')) === 200, 30_000, 'readiness')
  const answer = await fetch(`http://127.0.0.1:${port}/v1/workspaces`, {
    headers: { 'x-service-api-key': 'gh-admin-key-of-the-chart-test-000000000' },
  })
  t.is(answer.status, 200)

  const checked = await start(t, commandOf(oneOf(list, 'Pod'), secrets)).end()
  t.is(checked.code, 0, checked.output)
  server.child.kill('SIGTERM')
  const { code, output } = await server.end()
  t.is(code, 0, output)
})

helmTest('an old chart does not know that it is too old for an image, and the image refuses to serve', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const old: Rendering = { from: publishedChart('1.5.1'), values: valuesFor(database, await freePort()) }
  const command = commandOf(oneOf(await objects('4', old), 'Deployment'), secretsOf(database))
  t.is(command.env['DEPLOYMENT_CHART'], 'app-1.5.1')
  const { code, output } = await start(t, command).end()
  t.is(code, 78, output)
  t.regex(output, /app-1\.5\.1/)
})
