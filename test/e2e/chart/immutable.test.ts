import test, { type TestFn } from 'ava'
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts'
import { kubernetesPrograms } from '../../../scripts/kubernetes.ts'
import { chart, helm, helms, helmTest, objects, oneOf, skipLoudly, withValues } from '../../support/helm.ts'
import { startCluster, type Cluster } from '../../support/kubernetes/cluster.ts'
import { startKubernetesStub, type KubernetesStub } from '../../support/kubernetes-stub.ts'

type Values = Readonly<Record<string, unknown>>

/** Values that change the parts of a StatefulSet that Kubernetes never changes. */
const changes: readonly (readonly [what: string, values: Values])[] = [
  ['more log records', { settings: { logSpoolMaxMb: 4096 } }],
  ['fewer log records', { settings: { logSpoolMaxMb: 100 } }],
  ['a size', { persistence: { enabled: true, size: '8Gi' } }],
  ['a smaller size', { persistence: { enabled: true, size: '1Gi' } }],
  ['a storage class', { persistence: { enabled: true, storageClass: 'fast' } }],
  ['access modes', { persistence: { enabled: true, accessModes: ['ReadWriteOncePod'] } }],
  ['annotations of claims', { persistence: { enabled: true, annotations: { team: 'ai' } } }],
  ['common labels', { commonLabels: { team: 'ai' } }],
  ['the length of the history', { revisionHistoryLimit: 7 }],
  ['the fate of volumes', { persistence: { enabled: true, whenScaled: 'Delete' } }],
]
const persistent = { persistence: { enabled: true } }
const both = (values: Values) => withValues({ ...persistent, ...values })

const frozen = ({ spec }: StatefulSet) => ({
  claims: spec?.volumeClaimTemplates?.map((claim) => ({ metadata: claim.metadata, spec: claim.spec })),
  service: spec?.serviceName,
  policy: spec?.podManagementPolicy,
  selector: spec?.selector,
})

let stub: KubernetesStub
test.before(async () => void (stub = await startKubernetesStub()))
test.after.always(() => stub.close())

const path = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/statefulsets/gatehouse`

for (const [what, values] of changes)
  helmTest(`${what}: a StatefulSet that is there keeps what can never change`, async (t) => {
    const namespace = `kept-${what.replaceAll(' ', '-')}`
    const args = ['--dry-run=server', '--disable-openapi-validation', '--kubeconfig', stub.kubeconfig, '--namespace', namespace]
    const before = oneOf(await objects('4', { values: both({}), args }), 'StatefulSet')
    stub.objects.set(path(namespace), { ...before, metadata: { ...before.metadata, namespace } })
    const after = oneOf(await objects('4', { values: both(values), args: [...args, '--is-upgrade'] }), 'StatefulSet')
    t.deepEqual(frozen(after), frozen(before))
  })

helmTest('before 1.33 the length of the history is kept too', async (t) => {
  for (const [minor, limit] of [
    [32, 3],
    [33, 7],
  ] as const) {
    const older = await startKubernetesStub(minor)
    t.teardown(() => older.close())
    const args = ['--dry-run=server', '--disable-openapi-validation', '--kubeconfig', older.kubeconfig, '--namespace', 'history']
    const before = oneOf(await objects('4', { values: both({ revisionHistoryLimit: 3 }), args }), 'StatefulSet')
    older.objects.set(path('history'), before)
    const after = oneOf(await objects('4', { values: both({ revisionHistoryLimit: 7 }), args: [...args, '--is-upgrade'] }), 'StatefulSet')
    t.is(after.spec?.revisionHistoryLimit, limit)
  }
})

const built = kubernetesPrograms() !== null
if (!built) skipLoudly('upgrades of a StatefulSet on a real API server', 'none is built: run "npm run kubernetes:build"')
const clusterTest: TestFn = built ? helmTest : (test.skip as TestFn)
let cluster: Cluster
if (built) test.before(async () => void (cluster = await startCluster()))
test.after.always(() => (built ? cluster?.stop() : undefined))

for (const major of helms)
  clusterTest(
    `Helm ${major}: upgrades change everything around a StatefulSet that is kept, and larger volumes are made as documented`,
    async (t) => {
      const namespace = `kept-${major}`
      await cluster.api('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
      const run = async (verb: 'install' | 'upgrade', values: Values) => {
        const args = [verb, 'gatehouse', chart, '--values', '-', '--namespace', namespace, '--kubeconfig', cluster.kubeconfig]
        const { code, stdout, stderr } = await helm(major, args, { input: JSON.stringify(both(values)) })
        t.is(code, 0, `${JSON.stringify(values)}: ${stderr}`)
        return stdout
      }
      const size = async () =>
        (await cluster.api<StatefulSet>('GET', path(namespace))).body.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.[
          'storage'
        ]
      t.notRegex(await run('install', {}), /Larger volumes/)
      for (const [what, values] of changes) {
        const notes = await run('upgrade', values)
        // The API server writes 2048Mi so.
        t.is(await size(), '2Gi', what)
        t.is(/made with \w+, and values ask for \w+\. .*"Larger volumes"/s.test(notes), /log records|size/.test(what), what)
      }
      // Without a controller that collects garbage here, an orphaning deletion would never end.
      await cluster.api('DELETE', `${path(namespace)}?propagationPolicy=Background`)
      t.notRegex(await run('upgrade', { persistence: { enabled: true, size: '8Gi' } }), /Larger volumes/)
      t.is(await size(), '8Gi')
    },
  )
