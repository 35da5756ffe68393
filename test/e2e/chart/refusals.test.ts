import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { chartCopy } from '../../support/chart-copy.ts'
import { chart, helms, helmTest, objects, oneOf, template, withValues } from '../../support/helm.ts'
import { startKubernetesStub, type KubernetesStub } from '../../support/kubernetes-stub.ts'

type Values = Readonly<Record<string, unknown>>

/** For each refusal the values that provoke it, over the least that renders; and for the guard the installed release, or an older chart. */
const cases: Readonly<
  Record<
    string,
    {
      readonly values?: Values
      readonly installed?: string
      /** The labels by which the pods of the Deployment that is there are selected. */
      readonly selects?: Readonly<Record<string, string>>
      readonly from?: () => string
      readonly says: RegExp
    }
  >
> = {
  'database-host': { values: { database: { host: '' } }, says: /database\.host is empty/ },
  'database-secret': { values: { database: { existingSecret: '' } }, says: /kubectl -n ai create secret generic gatehouse-database/ },
  'encryption-key': { values: { secrets: { existingSecret: '' } }, says: /--from-literal=encryption-key="\$\(openssl rand -base64 32\)"/ },
  'database-password-twice': {
    values: { database: { passwordFile: '/vault/password' } },
    says: /existingSecret and database\.passwordFile both give the password/,
  },
  'secret-keys': {
    values: { secrets: { existingSecret: '', keys: { smtpPassword: 'smtp' }, files: { encryptionKey: '/vault/key' } } },
    says: /secrets\.keys names smtpPassword, but secrets\.existingSecret is empty/,
  },
  'database-ssl-keys': { values: { database: { ssl: { existingSecret: 'tls' } } }, says: /none of caKey, certKey and keyKey/ },
  'database-ssl-secret': { values: { database: { ssl: { caKey: 'ca.crt' } } }, says: /database\.ssl\.existingSecret is empty/ },
  'database-ssl-pair': { values: { database: { ssl: { existingSecret: 'tls', certKey: 'tls.crt' } } }, says: /belong together/ },
  'database-ssl-disabled': {
    values: { database: { ssl: { existingSecret: 'tls', caKey: 'ca.crt', mode: 'DISABLED' } } },
    says: /mode is DISABLED/,
  },
  'trusted-ca': { values: { global: { trustedCA: { configMap: 'one', secret: 'two' } } }, says: /give one of them/ },
  'image-digest-tag': { values: { image: { digest: `sha256:${'0'.repeat(64)}` } }, says: /name the release that the digest is of/ },
  'image-latest': { values: { image: { tag: 'latest' } }, says: /name a release/ },
  'extra-env': { values: { extraEnv: [{ name: 'DB_PASS_FILE', value: '/x' }] }, says: /extraEnv holds DB_PASS_FILE/ },
  'trusted-ca-env': {
    values: { global: { trustedCA: { configMap: 'authorities' } }, extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/x' }] },
    says: /extraEnv holds NODE_EXTRA_CA_CERTS, which global\.trustedCA sets/,
  },
  'volume-name': { values: { extraVolumes: [{ name: 'data', emptyDir: {} }] }, says: /extraVolumes holds data/ },
  'mount-path': { values: { settings: { dataDir: '/etc/gatehouse' } }, says: /two volumes are mounted at \/etc\/gatehouse: / },
  'frozen-label': {
    values: { commonLabels: { 'app.kubernetes.io/instance': 'other' } },
    says: /commonLabels holds app\.kubernetes\.io\/instance/,
  },
  'name-override': {
    values: { nameOverride: 'gateway' },
    installed: '1.12.0',
    selects: { 'app.kubernetes.io/name': 'gatehouse', 'app.kubernetes.io/component': 'server' },
    says: /nameOverride would be gateway, and the pods of deployment\/gatehouse are selected by gatehouse, .*: set nameOverride=gatehouse/,
  },
  'drain-delay': { values: { settings: { terminationGrace: '5s', drainDelay: '0.1m' } }, says: /no request could finish/ },
  'grace-period': { values: { terminationGracePeriodSeconds: 639 }, says: /is 639, .*needs 640/ },
  'volume-size': {
    values: { persistence: { enabled: true, size: '1Gi' }, settings: { logSpoolMaxMb: 1025 } },
    says: /1Gi, less than the 1025 MiB/,
  },
  'data-size': { values: { dataSize: '1Gi', settings: { logSpoolMaxMb: 1025 } }, says: /dataSize is 1Gi, less than the 1025 MiB/ },
  'certificate-secret': {
    values: { tls: { certificate: { enabled: true, issuerRef: { name: 'internal' } } } },
    says: /tls\.existingSecret is empty/,
  },
  'certificate-issuer': {
    values: { tls: { existingSecret: 'tls', certificate: { enabled: true } } },
    says: /tls\.certificate\.issuerRef\.name is empty/,
  },
  'vertical-horizontal': {
    values: { server: { autoscaling: { enabled: true }, verticalAutoscaling: { enabled: true, updateMode: 'Auto' } } },
    says: /server\.verticalAutoscaling would change what server\.autoscaling measures/,
  },
  'autoscaling-range': {
    values: { server: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 2 } } },
    says: /server\.autoscaling\.maxReplicas/,
  },
  'autoscaling-target': {
    values: { server: { autoscaling: { enabled: true, targetCPU: 0 } } },
    says: /neither targetCPU nor targetMemory nor targetInFlight, nor metrics of yours/,
  },
  'keda-prometheus': {
    values: { server: { autoscaling: { enabled: true, targetInFlight: 50, keda: { enabled: true } } } },
    says: /server\.autoscaling\.keda has to ask Prometheus .* give prometheusAddress/,
  },
  'keda-off': { values: { server: { autoscaling: { keda: { enabled: true } } } }, says: /server\.autoscaling\.enabled is off/ },
  'existing-claim': { values: { persistence: { existingClaim: 'records' } }, says: /persistence\.enabled is off/ },
  'disruption-budget': {
    values: { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 2 } },
    says: /Kubernetes takes one of them/,
  },
  strategy: {
    values: { persistence: { enabled: true }, server: { strategy: { type: 'Recreate' } } },
    says: /server\.strategy\.type is Recreate, which a StatefulSet does not have/,
  },
  'load-balancer': {
    values: { service: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
    says: /loadBalancerSourceRanges is given, and service\.type is ClusterIP/,
  },
  'external-traffic-policy': { values: { service: { externalTrafficPolicy: 'Local' } }, says: /which nothing outside reaches/ },
  'two-monitors': {
    values: { metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } },
    says: /would scrape every pod twice/,
  },
  'tls-client-probes': { values: { tls: { existingSecret: 'tls', caKey: 'ca.crt' } }, says: /probes of Kubernetes have none/ },
  'tls-secret': { values: { tls: { caKey: 'ca.crt' }, settings: { managementPort: 9090 } }, says: /tls\.existingSecret is empty/ },
  'management-port': { values: { settings: { managementPort: 8787 } }, says: /is 8787, which is the port that callers use/ },
  'metrics-off': {
    values: { settings: { metricsAccess: 'off' }, metrics: { podMonitor: { enabled: true } } },
    says: /Prometheus could read nothing/,
  },
  'dns-config': { values: { dnsPolicy: 'None' }, says: /names no server to ask/ },
  'autoscaling-requests': {
    values: { gateway: { enabled: true, autoscaling: { enabled: true }, resources: { requests: { cpu: null } } } },
    says: /gateway\.resources\.requests lacks it/,
  },
  loopback: { values: { settings: { host: '127.0.0.1' } }, says: /settings\.host is an address that nothing outside the pod reaches/ },
  'node-port': { values: { service: { nodePort: 30_080 } }, says: /service\.type is ClusterIP, which has no port on the nodes/ },
  'load-balancer-class': {
    values: { service: { type: 'NodePort', loadBalancerClass: 'inner' } },
    says: /loadBalancerClass is given, and service\.type is NodePort/,
  },
  'ingress-hosts': { values: { ingress: { enabled: true } }, says: /without ingress\.hosts/ },
  'http-route-parents': { values: { httpRoute: { enabled: true } }, says: /without httpRoute\.parentRefs/ },
  'network-policy-database': { values: { networkPolicy: { enabled: true, preset: 'airGap' } }, says: /no pod could reach it/ },
  'unknown-release': {
    values: { image: { tag: '1.9.7' } },
    says: /there is no release 1\.9\.7; the releases are 1\.3\.0, .*1\.9\.0, 1\.10\.0, .*1\.12\.0\./,
  },
  'unknown-level': {
    values: { settings: { releaseLevel: '1.11.5' } },
    says: /settings\.releaseLevel is 1\.11\.5, and there is no release 1\.11\.5; the releases are 1\.3\.0, /,
  },
  'chart-floor': {
    values: { image: { tag: 'v1.4.0-slim' } },
    from: () => chartCopy({ version: '1.4.0', appVersion: '1.3.1', knows: '1.12.0' }),
    says: /release 1\.4\.0 needs a chart app >1\.4\.0, and this is app-1\.4\.0: use app-1\.4\.1\./,
  },
  downgrade: {
    installed: '1.12.0',
    values: { image: { tag: '1.11.2' } },
    says: /release 1\.12\.0 is installed, and 1\.11\.2 is an earlier one\. Ask "gatehouse rollback-check 1\.11\.2"/,
  },
  'skipped-stop': {
    installed: '1.3.3',
    values: { persistence: { enabled: true } },
    says: /release 1\.3\.3 is installed, and the way to 1\.12\.0 halts at 1\.4\.0: upgrade to 1\.4\.0 with app-1\.4\.1 first/,
  },
}

const templates = path.join(chart, 'templates')
const sources = readdirSync(templates, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:ya?ml|tpl|txt)$/.test(file))
const read = (file: string) => readFileSync(path.join(templates, file), 'utf8')
const branches = [...read('validations.yaml').matchAll(/set \$no "([a-z-]+)"/g)].map(([, name]) => name ?? '')

test('each way to refuse is provoked, and the chart fails at one place only', (t) => {
  t.deepEqual(Object.keys(cases).toSorted(), branches.toSorted())
  t.is(new Set(branches).size, branches.length)
  t.is(
    sources
      .map(read)
      .join('\n')
      .match(/\b(?:fail|required) /g)?.length,
    1,
  )
  t.log(`${branches.length} ways to refuse, ${Object.keys(cases).length} provoked`)
})

let stub: KubernetesStub
test.before(async () => void (stub = await startKubernetesStub()))
test.after.always(() => stub.close())

for (const major of helms)
  for (const [name, { values = {}, says, installed, selects, from }] of Object.entries(cases))
    helmTest(`Helm ${major} refuses: ${name}`, async (t) => {
      // A namespace for each case, so that the installation of one is not there for the others.
      const namespace = `of-${name}-${major}`
      if (installed !== undefined) stub.secrets.set(`${namespace}/gatehouse-state`, { release: installed, chart: 'app-1.3.0' })
      if (selects !== undefined)
        stub.objects.set(`/apis/apps/v1/namespaces/${namespace}/deployments/gatehouse`, {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'gatehouse', namespace },
          spec: { selector: { matchLabels: selects } },
        })
      const live = installed === undefined ? [] : ['--dry-run=server', '--kubeconfig', stub.kubeconfig, '--namespace', namespace]
      const rendering = { values: withValues(values), args: live, ...(from && { from: from() }) }
      const { code, stderr } = await template(major, rendering)
      t.not(code, 0)
      t.regex(stderr, says)
      t.deepEqual(
        [...stderr.matchAll(/^ {2}\[([a-z-]+)\]$/gm)].map(([, found]) => found),
        [name],
      )
    })

helmTest('the guard lets pass what the records allow, and what somebody gave a reason for', async (t) => {
  const why = 'moved by hand, ticket 7'
  const allowed = [
    ['1.12.0', {}],
    ['1.11.2', {}],
    // Without volumes there is no reason to halt.
    ['1.3.3', {}],
    ['1.4.0', { persistence: { enabled: true } }],
    ['1.3.3', { persistence: { enabled: true }, image: { tag: '1.4.0' } }],
    ['1.3.3', { persistence: { enabled: true }, upgrade: { allowSkip: why } }],
    ['1.12.0', { image: { tag: '1.11.2' }, upgrade: { allowDowngrade: why } }],
    // An operator who comes from a tag that names no release is on their own.
    ['', { image: { tag: '1.3.0' } }],
  ] as const
  for (const [at, [release, values]] of allowed.entries()) {
    stub.secrets.set(`allowed-${at}/gatehouse-state`, { release })
    const args = ['--dry-run=server', '--disable-openapi-validation', '--kubeconfig', stub.kubeconfig, '--namespace', `allowed-${at}`]
    const { code, stdout, stderr } = await template('4', { values: withValues(values), args })
    t.is(code, 0, stderr)
    t.is(stdout.includes(why), 'upgrade' in values)
    // Only the migrating pods get it: a reason rolls no pods.
    t.is(stdout.split(`- name: DEPLOYMENT_REASON\n              value: "${why}"`).length - 1, 'upgrade' in values ? 1 : 0)
  }
})

const likely: readonly (readonly [what: string, values: Values])[] = [
  ['a release to hold at, and one that is to come', { settings: { releaseLevel: '1.11.2' } }],
  ['a level beyond the newest release', { settings: { releaseLevel: '1.13.0' } }],
  ["a level that a build of one's own may know", { settings: { releaseLevel: '1.11.5' }, image: { tag: 'main' } }],
  [
    "volumes and mounts of one's own",
    { extraVolumes: [{ name: 'own', emptyDir: {} }], extraVolumeMounts: [{ name: 'own', mountPath: '/own' }] },
  ],
  ['a port on the nodes of a load balancer', { service: { type: 'LoadBalancer', nodePort: 30_080, loadBalancerClass: 'inner' } }],
  ["authorities of one's own", { extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/own/ca.pem' }] }],
  ['registries with a port, a path and a slash', { global: { imageRegistry: 'registry.example:5000/mirror/' }, image: { tag: '_x.Y-1' } }],
  ["an address instead of a registry's name", { image: { registry: '[fd00::1]:5000', namespace: 'ai/gate_house' } }],
]

for (const [what, values] of likely)
  helmTest(`the chart takes ${what}`, async (t) => {
    const { code, stderr } = await template('3', { values: withValues(values) })
    t.is(code, 0, stderr)
  })

helmTest('an image that no node could pull is refused by the name of its part', async (t) => {
  const parts = { registry: 'https://registry.example', namespace: 'ai/', tag: 'a b' }
  const { code, stderr } = await template('4', {
    values: withValues({ image: parts, global: { imageRegistry: 'https://registry.example' } }),
  })
  t.not(code, 0)
  for (const part of ['global/imageRegistry', ...Object.keys(parts).map((name) => `image/${name}`)])
    t.regex(stderr, new RegExp(`at '/${part}'`), part)
  t.notRegex(stderr, /metadata\.labels/)
})

/** The state after a tag that is installed after a release. */
async function stateAfter(release: string, tag: string): Promise<string | undefined> {
  const namespace = `state-${release}-${tag.replaceAll(/\W/g, '-')}`
  stub.secrets.set(`${namespace}/gatehouse-state`, { release })
  const args = ['--dry-run=server', '--disable-openapi-validation', '--kubeconfig', stub.kubeconfig, '--namespace', namespace]
  return oneOf(await objects('4', { values: withValues({ image: { tag } }), args }), 'Secret').stringData?.['release']
}

helmTest('a tag that names no release leaves what is known to be installed', async (t) => {
  for (const [release, tag, after] of [
    ['1.12.0', 'main', '1.12.0'],
    ['1.11.2', '1.12', '1.11.2'],
    ['1.11.2', 'v1.12.0-slim', '1.12.0'],
    ['', 'main', ''],
  ] as const)
    t.is(await stateAfter(release, tag), after, tag)
})

helmTest('a reason has to be one', async (t) => {
  for (const name of ['allowSkip', 'allowDowngrade'])
    t.not((await template('3', { values: withValues({ upgrade: { [name]: 'yes' } }) })).code, 0)
})
