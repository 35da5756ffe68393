import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext, type TestFn } from 'ava'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { Secret } from 'kubernetes-types/core/v1.d.ts'
import { parse } from 'yaml'
import { kubernetesPrograms } from '../../../scripts/kubernetes.ts'
import { chartCopy } from '../../support/chart-copy.ts'
import { documentBlocks } from '../../support/document-blocks.ts'
import {
  chart,
  ciFiles,
  ciValues,
  helm,
  helmProgram,
  helms,
  helmTest,
  lazily,
  objects,
  podOf,
  root,
  scratch,
  skipLoudly,
  withValues,
  type Answer,
  type HelmMajor,
} from '../../support/helm.ts'
import { startCluster, type Cluster } from '../../support/kubernetes/cluster.ts'

// Charts on a real API server. Namespaces keep the tests apart; one server serves them all.
const built = kubernetesPrograms() !== null
if (!built) skipLoudly('the chart on a real API server', 'none is built: run "npm run kubernetes:build"')
const clusterTest: TestFn = built ? helmTest : (test.skip as TestFn)

let cluster: Cluster
if (built) test.before(async () => void (cluster = await startCluster()))
test.after.always(() => (built ? cluster?.stop() : undefined))

type Values = Readonly<Record<string, unknown>>

interface Installation {
  readonly namespace: string
  /** `helm <verb> gatehouse <chart>`, with the least values and these. */
  run(
    verb: 'install' | 'upgrade',
    options?: { values?: Values; from?: string; with?: HelmMajor; args?: readonly string[] },
  ): Promise<Answer>
  /** `helm <args>` in the namespace. */
  other(...args: readonly string[]): Promise<Answer>
  get<T>(url: string): Promise<T | null>
  deployment(): Promise<Deployment | null>
  jobs(): Promise<readonly string[]>
  /** The release that the state names. */
  state(): Promise<string | null>
}

/** A namespace that lets in restricted pods only. */
async function namespaceFor(name: string, major: HelmMajor): Promise<Installation> {
  const namespace = `${name}-${major}`
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await cluster.api('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } })
  const get = async <T>(url: string) => {
    const { status, body } = await cluster.api<T>('GET', url.replace('NS', `namespaces/${namespace}`))
    return status === 200 ? body : null
  }
  const call = (used: HelmMajor, args: readonly string[], input = '') =>
    helm(used, [...args, '--namespace', namespace, '--kubeconfig', cluster.kubeconfig], { input })
  return {
    namespace,
    get,
    run: (verb, { values = {}, from = chart, with: used = major, args = [] } = {}) =>
      call(used, [verb, 'gatehouse', from, '--values', '-', ...args], JSON.stringify(withValues(values))),
    other: (...args) => call(major, args),
    deployment: () => get<Deployment>('/apis/apps/v1/NS/deployments/gatehouse'),
    jobs: async () =>
      ((await get<{ items: readonly Job[] }>('/apis/batch/v1/NS/jobs'))?.items ?? []).map(({ metadata }) => metadata?.name ?? ''),
    state: async () => {
      const secret = await get<Secret>('/api/v1/NS/secrets/gatehouse-state')
      return secret === null ? null : Buffer.from(secret.data?.['release'] ?? '', 'base64').toString()
    },
  }
}

const succeeded = (t: ExecutionContext, { code, stderr }: Answer) => t.is(code, 0, stderr)
const imageOf = (deployment: Deployment | null) => deployment?.spec?.template.spec?.containers[0]?.image

interface Published {
  readonly version: string
  readonly appVersion: string
}

/** Every published chart, with the templates of today. */
const charts = lazily(() => {
  const { charts: published } = parse(readFileSync(path.join(root, 'releases/charts.yaml'), 'utf8')) as { charts: readonly Published[] }
  return published.map((one) => Object.assign(one, { folder: chartCopy(one) }))
})
const chartOf = (version: string) => charts().find((one) => one.version === version)?.folder ?? ''

for (const major of helms) {
  clusterTest(`Helm ${major}: install, test, upgrade, roll back, uninstall`, async (t) => {
    const it = await namespaceFor('life', major)
    succeeded(t, await it.run('install', { from: chartOf('1.5.1') }))
    t.is(imageOf(await it.deployment()), 'gatehouse:1.10.0')
    const [plain = ''] = await it.jobs()
    t.regex(plain, /^gatehouse-migrate-1-10-0-[0-9a-f]{8}$/)
    t.is(await it.state(), '1.10.0')
    succeeded(t, await it.other('test', 'gatehouse'))

    const upgraded = await it.run('upgrade', { values: { settings: { logLevel: 'debug' } } })
    succeeded(t, upgraded)
    t.regex(upgraded.stdout, /exec deployment\/gatehouse -- gatehouse finalize\n/)
    t.is(imageOf(await it.deployment()), 'gatehouse:1.12.0')
    t.is(await it.state(), '1.12.0')
    // The hook took the place of the plain Job.
    t.deepEqual(await it.jobs(), ['gatehouse-migrate-1-12-0'])

    succeeded(t, await it.other('rollback', 'gatehouse', '1'))
    t.is(imageOf(await it.deployment()), 'gatehouse:1.10.0')
    // The rollback names the release to which it leads.
    t.is(await it.state(), '1.10.0')

    succeeded(t, await it.other('uninstall', 'gatehouse'))
    t.is(await it.deployment(), null)
    t.is(await it.state(), '1.10.0')
    const older = await it.run('install', { from: chartOf('1.4.0') })
    t.not(older.code, 0)
    t.regex(older.stderr, /release 1\.10\.0 is installed, and 1\.3\.1 is an earlier one/)
  })

  clusterTest(`Helm ${major}: a migration that fails leaves everything as it was`, async (t) => {
    const it = await namespaceFor('failing', major)
    succeeded(t, await it.run('install', { from: chartOf('1.5.1') }))
    const before = await it.deployment()
    cluster.outcomes.set(it.namespace, 'Failed')
    const failed = await it.run('upgrade')
    t.not(failed.code, 0)
    t.regex(failed.stderr, /BackoffLimitExceeded|pre-upgrade hooks failed/)
    const after = await it.deployment()
    t.is(after?.metadata?.generation, before?.metadata?.generation)
    t.is(imageOf(after), 'gatehouse:1.10.0')
    t.is(await it.state(), '1.10.0')
    // The Job stays, so that its log can be read, and the next try replaces it.
    t.true((await it.jobs()).includes('gatehouse-migrate-1-12-0'))
    cluster.outcomes.delete(it.namespace)
    succeeded(t, await it.run('upgrade'))
    t.is(imageOf(await it.deployment()), 'gatehouse:1.12.0')
  })

  clusterTest(
    `Helm ${major}: a skipped stop and a downgrade are refused before anything changes, unless somebody gives a reason`,
    async (t) => {
      const it = await namespaceFor('guard', major)
      const persistent = { persistence: { enabled: true } }
      succeeded(t, await it.run('install', { from: chartOf('1.4.0'), values: persistent }))
      t.is(await it.state(), '1.3.1')
      const skip = await it.run('upgrade', { values: persistent })
      t.not(skip.code, 0)
      t.regex(
        skip.stderr,
        /release 1\.3\.1 is installed, and the way to 1\.12\.0 halts at 1\.4\.0: upgrade to 1\.4\.0 with app-1\.4\.1 first/,
      )
      const dry = await it.run('upgrade', { values: persistent, args: ['--dry-run=server'] })
      t.not(dry.code, 0)
      t.is((JSON.parse((await it.other('history', 'gatehouse', '--output', 'json')).stdout) as unknown[]).length, 1)
      t.deepEqual((await it.jobs()).length, 1)

      succeeded(t, await it.run('upgrade', { from: chartOf('1.4.1'), values: persistent }))
      succeeded(t, await it.run('upgrade', { values: persistent }))
      t.is(await it.state(), '1.12.0')
      // A tag that names no release does not erase the releases that the database has seen.
      succeeded(t, await it.run('upgrade', { values: { ...persistent, image: { tag: 'main' } } }))
      t.is(await it.state(), '1.12.0')
      const down = await it.run('upgrade', { from: chartOf('1.5.1'), values: persistent })
      t.not(down.code, 0)
      t.regex(down.stderr, /Ask "gatehouse rollback-check 1\.10\.0"/)
      succeeded(
        t,
        await it.run('upgrade', {
          from: chartOf('1.5.1'),
          values: { ...persistent, upgrade: { allowDowngrade: 'checked, see ticket 7' } },
        }),
      )
      t.is(await it.state(), '1.10.0')
    },
  )

  clusterTest(`Helm ${major}: an upgrade leaves the number of replicas to the autoscaler`, async (t) => {
    const it = await namespaceFor('scaled', major)
    const values = { server: { autoscaling: { enabled: true } } }
    succeeded(t, await it.run('install', { values }))
    const scale = `/apis/apps/v1/namespaces/${it.namespace}/deployments/gatehouse/scale`
    t.is((await cluster.api('PATCH', scale, { spec: { replicas: 5 } })).status, 200)
    succeeded(t, await it.run('upgrade', { values: { ...values, settings: { logLevel: 'debug' } } }))
    t.is((await it.deployment())?.spec?.replicas, 5)
  })
}

/** Old values and new templates, or old values under new defaults. */
const reuses = ['--reuse-values', '--reset-then-reuse-values'] as const
/** The Helm versions that install and upgrade: each with itself, and the newer one after the older one. */
const hands = [
  ['3', '3'],
  ['4', '4'],
  ['3', '4'],
] as const

/** That the objects are right is proved below, once; to check them again takes Helm most of its time. */
const unchecked = ['--disable-openapi-validation']

const pairs = [...Array(7).keys()].flatMap((from) => [...Array(7).keys()].filter((to) => to > from).map((to) => [from, to] as const))
for (const [at, [from, to]] of pairs.entries()) {
  const [first, second] = hands[at % hands.length] ?? hands[0]
  const reuse = reuses[at % reuses.length] ?? reuses[0]
  clusterTest(`chart ${from + 1} of 7 to chart ${to + 1}: Helm ${first}, then Helm ${second} with ${reuse}`, async (t) => {
    const [older, newer] = [charts()[from], charts()[to]]
    t.is(charts().length, 7)
    const it = await namespaceFor(`pair-${from}-${to}`, first)
    succeeded(
      t,
      await it.run('install', { ...(older && { from: older.folder }), values: { settings: { logLevel: 'warn' } }, args: unchecked }),
    )
    const upgrade = ['upgrade', 'gatehouse', newer?.folder ?? '', reuse, ...unchecked]
    succeeded(t, await helm(second, [...upgrade, '--namespace', it.namespace, '--kubeconfig', cluster.kubeconfig]))
    const deployment = await it.deployment()
    t.is(imageOf(deployment), `gatehouse:${newer?.appVersion}`)
    const env = Object.fromEntries((deployment?.spec?.template.spec?.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))
    t.like(env, { LOG_LEVEL: 'warn', DEPLOYMENT_CHART: `app-${newer?.version}` })
    t.is(await it.state(), newer?.appVersion ?? null)
  })
}

/** The place where each kind is created; kinds of other operators are not there. */
const collections: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/NS/configmaps',
  Pod: '/api/v1/NS/pods',
  Secret: '/api/v1/NS/secrets',
  Service: '/api/v1/NS/services',
  ServiceAccount: '/api/v1/NS/serviceaccounts',
  Deployment: '/apis/apps/v1/NS/deployments',
  StatefulSet: '/apis/apps/v1/NS/statefulsets',
  HorizontalPodAutoscaler: '/apis/autoscaling/v2/NS/horizontalpodautoscalers',
  Job: '/apis/batch/v1/NS/jobs',
  Ingress: '/apis/networking.k8s.io/v1/NS/ingresses',
  NetworkPolicy: '/apis/networking.k8s.io/v1/NS/networkpolicies',
  PodDisruptionBudget: '/apis/policy/v1/NS/poddisruptionbudgets',
}

clusterTest('the API server takes every object strictly, and every pod as restricted', async (t) => {
  const { namespace } = await namespaceFor('strict', '4')
  const create = (kind: string, object: object) =>
    cluster.api<{ message?: string }>(
      'POST',
      `${(collections[kind] ?? '').replace('NS', `namespaces/${namespace}`)}?dryRun=All&fieldValidation=Strict`,
      object,
    )
  const seen = new Set<string>()
  for (const file of ciFiles)
    for (const args of [[], ['--is-upgrade']])
      for (const object of await objects('4', { values: ciValues(file), args })) {
        if (collections[object.kind] === undefined) continue
        seen.add(object.kind)
        const where = `${file}: ${object.kind} ${object.metadata.name}`
        // A dry run keeps no objects, so that only priority and runtime classes are missing.
        const { status, body } = await create(object.kind, withoutClasses({ ...object, metadata: { ...object.metadata, namespace } }))
        t.is(status, 201, `${where}: ${body.message}`)
        const pod = podOf(object)
        if (pod === null || object.kind === 'Pod' || file === 'full-values.yaml') continue
        // For a Deployment the server only warns; a pod it refuses. The user is the namespace's on OpenShift.
        const spec = {
          ...pod.spec,
          volumes: (pod.spec.volumes ?? [])
            .concat({ name: 'data', emptyDir: {} })
            .filter(({ name }, at, all) => all.findIndex((one) => one.name === name) === at),
        }
        const made = await create('Pod', {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'pod', namespace, labels: pod.labels },
          spec: { ...spec, restartPolicy: undefined },
        })
        t.is(made.status, 201, `${where}: ${made.body.message}`)
      }
  t.deepEqual([...seen].toSorted(), Object.keys(collections).toSorted())
})

/** An object without the classes that a cluster would have to have. */
const withoutClasses = (object: object): object =>
  JSON.parse(
    JSON.stringify(object, (key, value: unknown) => (key === 'priorityClassName' || key === 'runtimeClassName' ? undefined : value)),
  ) as object

const kubectl = spawnSync('kubectl', ['version', '--client']).status === 0
if (built && !kubectl) skipLoudly('the commands of docs/operations/install.md', 'there is no kubectl')
const documentTest = kubectl ? clusterTest : (test.skip as TestFn)

/** The blocks of a document that a cluster without nodes can run. */
function clusterBlocks(name: string) {
  const here = new Set(['helm', 'kubectl', 'cluster'])
  return documentBlocks(path.join(root, 'docs/operations', name)).filter(({ needs }) => needs.every((need) => here.has(need)))
}

/** Runs blocks in one shell, in a folder and a namespace of their own. */
async function runInCluster(t: ExecutionContext, name: string, blocks: ReturnType<typeof clusterBlocks>) {
  const folder = path.join(scratch, name)
  mkdirSync(folder)
  symlinkSync(path.join(root, 'charts'), path.join(folder, 'charts'))
  symlinkSync(helmProgram('4'), path.join(folder, 'helm'))
  const script = blocks.map(
    ({ line, commands }) => `echo '--- line ${line}'\n${commands.replace('NAMESPACE=gatehouse', `NAMESPACE=${name}`)}`,
  )
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-s'], {
    cwd: folder,
    env: { HOME: folder, PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: cluster.kubeconfig },
  })
  shell.stdin.end(`${script.join('\n')}\n`)
  const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  t.is(shell.exitCode, 0, `${output}\n${errors}`)
  return { folder, output }
}

documentTest('the commands of docs/operations/install.md do what it says', async (t) => {
  const blocks = clusterBlocks('install.md')
  t.is(blocks.length, 8)
  const { folder, output } = await runInCluster(t, 'install', blocks)
  t.regex(output, /Phase: {10}Succeeded/)
  t.is(Buffer.from(readFileSync(path.join(folder, 'encryption.key'), 'utf8'), 'base64').length, 32)
  t.regex(output, /^2 .*deployed/m)
  t.regex(output, /release "gatehouse" uninstalled\n/)
})

documentTest('the commands of docs/operations/upgrade.md and rollback.md lead to the new release and back', async (t) => {
  const installed = clusterBlocks('install.md').filter(({ commands }) => !/ uninstall | delete /.test(commands))
  const both = ['upgrade.md', 'rollback.md'].flatMap((name) => clusterBlocks(name).filter(({ needs }) => needs.includes('cluster')))
  t.is(both.length, 3)
  const { output } = await runInCluster(t, 'upgrade', [...installed, ...both])
  t.regex(output, /Rollback was a success/)
  t.regex(output, /secret "gatehouse-state" deleted/)
})
