import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { chartCopy } from '../../support/chart-copy.ts'
import {
  chart,
  ciFiles,
  ciValues,
  helm,
  helms,
  helmTest,
  lazily,
  objects,
  oneOf,
  parseObjects,
  skipLoudly,
  template,
} from '../../support/helm.ts'
import { typeFaults } from '../../support/kubernetes/check-types.ts'

const snapshots = path.join(import.meta.dirname, 'snapshots')
const modes = { install: [], upgrade: ['--is-upgrade'] } as const
const renderMs: number[] = []
// A new resource of the control plane is no change of the chart.
const frozen = lazily(() =>
  chartCopy({
    controlPaths: ['admin', 'api-keys', 'configs', 'integrations', 'labels', 'logs', 'providers', 'virtual-keys', 'workspaces'].map(
      (segment) => `/v1/${segment}`,
    ),
  }),
)

/** Compares with the stored rendering; `UPDATE_SNAPSHOTS=1` stores a new one. */
function snapshot(name: string, rendered: string): string {
  const file = path.join(snapshots, name)
  if (process.env['UPDATE_SNAPSHOTS']) {
    mkdirSync(snapshots, { recursive: true })
    writeFileSync(file, rendered)
  }
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

for (const file of ciFiles)
  for (const [mode, args] of Object.entries(modes))
    helmTest(`${file} renders what it did, for an ${mode}, with Helm 3 and Helm 4 alike`, async (t) => {
      const render = async (major: '3' | '4') => {
        const { stdout, stderr, ms } = await template(major, { values: ciValues(file), args, from: frozen() })
        renderMs.push(ms)
        return stdout || stderr
      }
      const [three, four] = [await render('3'), await render('4')]
      t.is(four, snapshot(`${path.basename(file, '-values.yaml')}.${mode}.yaml`, four))
      t.is(three, four)
    })

test('every rendered object is one of Kubernetes, to the last field', async (t) => {
  // The renderings are stored, and proved to be up to date.
  const all = readdirSync(snapshots).flatMap((file) => parseObjects(readFileSync(path.join(snapshots, file), 'utf8')))
  t.is(await typeFaults(all), '')
  const kinds = new Set(all.map(({ kind }) => kind))
  t.deepEqual([...kinds].toSorted(), everyKind)
  t.log(`${all.length} objects of ${kinds.size} kinds`)
})

const everyKind = [
  'Certificate',
  'ConfigMap',
  'Deployment',
  'ExternalSecret',
  'HTTPRoute',
  'HorizontalPodAutoscaler',
  'Ingress',
  'Job',
  'NetworkPolicy',
  'Pod',
  'PodDisruptionBudget',
  'PodMonitor',
  'PrometheusRule',
  'ScaledObject',
  'Secret',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
  'StatefulSet',
  'VerticalPodAutoscaler',
]

/** Faults that a template could make: the place, and the wrong value there. */
const faults: readonly (readonly [at: string, value: unknown])[] = [
  ['spec.template.spec.containers.0.readOnlyRootFilesystem', true],
  ['spec.replicas', '2'],
  ['spec.template.spec.containers.0.env.0.value', 1],
  ['spec.selector', undefined],
  ['metadata.labels.on', true],
]

helmTest('the check of types finds faults that templates make', async (t) => {
  const sound = oneOf(await objects('4'), 'Deployment')
  const damaged = faults.map(([at, value]) => {
    const copy = structuredClone(sound)
    const names = at.split('.')
    const parent = names.slice(0, -1).reduce<object>((node, name) => Reflect.get(node, name) as object, copy)
    Reflect.set(parent, names.at(-1) ?? '', value)
    return copy
  })
  const found = await typeFaults([sound, ...damaged])
  t.deepEqual(
    [...found.matchAll(/^objects\.ts\((\d+),/gm)].map(([, line]) => Number(line)),
    [2, 3, 4, 5, 6],
  )
})

for (const major of helms)
  helmTest(`Helm ${major} lints every set of values`, async (t) => {
    for (const file of ciFiles) {
      const { code, stdout } = await helm(major, ['lint', '--strict', chart, '--values', path.join(chart, 'ci', file)])
      t.is(code, 0, `${file}: ${stdout}`)
      // An icon would be an address.
      t.deepEqual(
        [...stdout.matchAll(/^\[(?:WARNING|ERROR|INFO)\] .*$/gm)].map(([line]) => line),
        ['[INFO] Chart.yaml: icon is recommended'],
      )
    }
  })

const offline = ['unshare', '--net', '--map-root-user']
const canGoOffline = spawnSync(offline[0] ?? '', [...offline.slice(1), 'true']).status === 0
if (!canGoOffline) skipLoudly('rendering without any network', 'this machine lets nobody unshare it')
const offlineTest = canGoOffline ? helmTest : test.skip

for (const major of helms)
  offlineTest(`Helm ${major} renders without any network`, async (t) => {
    const alone = await template(major, { values: ciValues('air-gap-values.yaml'), wrap: offline })
    t.is(alone.code, 0, alone.stderr)
    t.is(alone.stdout, (await template(major, { values: ciValues('air-gap-values.yaml') })).stdout)
    t.true(parseObjects(alone.stdout).length > 5)
  })

test.after((t) => {
  const sorted = renderMs.toSorted((one, other) => one - other)
  if (sorted.length > 0)
    t.log(
      `${sorted.length} renderings, median ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms`,
    )
})
