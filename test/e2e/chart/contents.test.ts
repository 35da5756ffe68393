import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { createMetrics } from '../../../src/app/metrics/metrics.ts'
import { wholePath } from '../../../src/app/route.ts'
import { settings } from '../../../src/config/index.ts'
import { features } from '../../../src/features/index.ts'
import { operations } from '../../../src/gateway/operations/operations.ts'
import {
  chart,
  ciFiles,
  ciValues,
  helm,
  helms,
  helmTest,
  lazily,
  objects,
  ofKind,
  oneOf,
  podOf,
  parseObjects,
  podsOf,
  serverPod,
  template,
  withValues,
  type KubernetesObject,
  type Rendering,
} from '../../support/helm.ts'

type Values = Readonly<Record<string, unknown>>

const render = (values: Values = {}, args: Rendering['args'] = []) => objects('4', { values: withValues(values), args })

/** All that `ci/` renders, for installations and for upgrades. */
const everything = lazily(() =>
  Promise.all(
    ciFiles.flatMap((file) =>
      [[], ['--is-upgrade']].map(async (args) => ({ file, list: await objects('4', { values: ciValues(file), args }) })),
    ),
  ),
)

const names = (list: readonly KubernetesObject[]) => list.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
const images = (list: readonly KubernetesObject[]) => [...new Set(podsOf(list).map(({ container }) => container.image))]

helmTest('every pod keeps to the restricted profile and gets no token', async (t) => {
  for (const { file, list } of await everything()) {
    for (const { of, spec, container } of podsOf(list)) {
      const where = `${file}: ${of}`
      t.like(spec, { automountServiceAccountToken: false, enableServiceLinks: false }, where)
      t.like(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }, where)
      t.is(spec.securityContext?.runAsUser, file === 'openshift-values.yaml' ? undefined : 10_001, where)
      t.is(spec.securityContext?.fsGroup, file === 'openshift-values.yaml' ? undefined : 10_001, where)
      t.deepEqual([spec.hostNetwork, spec.hostPID, spec.hostIPC], [undefined, undefined, undefined], where)
      t.deepEqual(
        container.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        where,
      )
      t.deepEqual(
        spec.volumes?.filter(({ hostPath }) => hostPath),
        [],
        where,
      )
    }
    for (const account of ofKind(list, 'ServiceAccount')) t.is(account.automountServiceAccountToken, false)
  }
})

helmTest('no Secret is made but the state, and no value of a secret stands in an object', async (t) => {
  for (const { list } of await everything()) {
    for (const secret of ofKind(list, 'Secret')) t.regex(secret.metadata.name, /-state$/)
    for (const { env } of podsOf(list))
      for (const [name, value] of Object.entries(env))
        if (/(?:KEY|PASS|SECRET|TOKEN)(?:_FILE)?$/.test(name)) t.regex(value, /^\/(?:etc\/gatehouse|vault\/secrets)\//, name)
  }
})

helmTest('without a Secret of Kubernetes the secrets are read from files that something else mounts', async (t) => {
  const list = await objects('4', { values: ciValues('files-values.yaml') })
  t.deepEqual(
    podsOf(list).flatMap(({ env }) => [env['ENCRYPTION_KEY_FILE'], env['DB_PASS_FILE']]),
    podsOf(list).flatMap(() => ['/vault/secrets/encryption-key', '/vault/secrets/database-password']),
  )
  // The certificate of the port is one, since cert-manager writes it so.
  t.notRegex(JSON.stringify(podsOf(list)), /secretName|secretKeyRef|"secret":\{"name":"(?!gatehouse-tls")/)
})

helmTest('a rollback notes the release that it leads to, and a container that fails tells its last lines', async (t) => {
  for (const { list } of await everything()) {
    for (const { metadata } of ofKind(list, 'Secret'))
      t.is(metadata.annotations?.['helm.sh/hook'], 'post-install,pre-upgrade,post-rollback')
    for (const { container } of podsOf(list)) t.is(container.terminationMessagePolicy, 'FallbackToLogsOnError')
  }
})

helmTest('one image, which the manifest names, and one switch for its registry', async (t) => {
  const manifest = parse(readFileSync(path.join(chart, 'Chart.yaml'), 'utf8')) as { annotations: Record<string, string> }
  const named = parse(manifest.annotations['artifacthub.io/images'] ?? '') as readonly { image: string }[]
  t.deepEqual(
    images(await render()),
    named.map((entry) => entry.image),
  )
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
  const table = [
    [{ image: { registry: 'one.example', namespace: 'a/b' } }, 'one.example/a/b/gatehouse:1.12.0'],
    [{ image: { registry: 'one.example' }, global: { imageRegistry: 'two.example:5000/' } }, 'two.example:5000/gatehouse:1.12.0'],
    [{ image: { tag: '1.11.2', digest } }, `gatehouse:1.11.2@${digest}`],
    [{ image: { name: 'gate', tag: '1.12.0', digest } }, `gate:1.12.0@${digest}`],
    // Older releases, and some that are unknown to the chart.
    ...['1.3.0', '1.12.5', '2.0.0', 'v1.12.0', 'nightly'].map((tag) => [{ image: { tag } }, `gatehouse:${tag}`] as const),
  ] as const
  for (const [values, expected] of table) t.deepEqual(images(await render(values)), [expected])
})

for (const major of helms)
  helmTest(`Helm ${major}: roles are each served once, whatever has a workload of its own, and Services find them`, async (t) => {
    const roles = ['gateway', 'control', 'jobs']
    for (let bits = 0; bits < 8; bits++) {
      const apart = roles.filter((_, at) => bits & (1 << at))
      const shared = roles.filter((role) => !apart.includes(role))
      const list = await objects(major, { values: withValues(Object.fromEntries(apart.map((role) => [role, { enabled: true }]))) })
      const pods = podsOf(ofKind(list, 'Deployment'))
      const expected = apart.map((role) => [`Deployment gatehouse-${role}`, role])
      if (shared.length > 0) expected.unshift(['Deployment gatehouse', shared.join(',')])
      t.deepEqual(Object.fromEntries(pods.map(({ of, env }) => [of, env['ROLES']])), Object.fromEntries(expected))
      for (const { metadata, spec } of ofKind(list, 'Service'))
        for (const { labels, env } of pods) {
          const selected = Object.entries(spec?.selector ?? {}).every(([name, value]) => labels[name] === value)
          t.is(selected, (env['ROLES'] ?? '').split(',').includes(metadata.name === 'gatehouse' ? 'gateway' : 'control'))
        }
    }
  })

helmTest('autoscaling names no number of replicas, and only what has several replicas has a disruption budget', async (t) => {
  const scaled = await render({ server: { autoscaling: { enabled: true } } })
  t.false('replicas' in (oneOf(scaled, 'Deployment').spec ?? {}))
  t.like(oneOf(scaled, 'HorizontalPodAutoscaler').spec, {
    minReplicas: 2,
    maxReplicas: 10,
    scaleTargetRef: { kind: 'Deployment', name: 'gatehouse' },
  })
  const budgets = async (server: Values) => ofKind(await render({ server }), 'PodDisruptionBudget').length
  t.is(ofKind(scaled, 'PodDisruptionBudget').length, 1)
  t.is(await budgets({ replicas: 2 }), 1)
  t.is(await budgets({ replicas: 1 }), 0)
  t.is(await budgets({ autoscaling: { enabled: true, minReplicas: 1 } }), 0)
  t.is(oneOf(await render({ server: { replicas: 0 } }), 'Deployment').spec?.replicas, 0)
})

helmTest('the migration is a plain Job at first and a hook from then on, and refers to nothing that is not there yet', async (t) => {
  const installed = oneOf(await render(), 'Job')
  t.is(installed.metadata.annotations, undefined)
  const list = await render({}, ['--is-upgrade'])
  const hook = oneOf(list, 'Job')
  t.like(hook.metadata.annotations, { 'helm.sh/hook': 'pre-upgrade', 'helm.sh/hook-delete-policy': 'before-hook-creation' })
  t.is(hook.spec?.backoffLimit, 0)
  const pod = podOf(hook)
  t.deepEqual(pod?.container.args, ['migrate'])
  const account = ofKind(list, 'ServiceAccount').find(({ metadata }) => metadata.name === pod?.spec.serviceAccountName)
  t.like(account?.metadata.annotations, { 'helm.sh/hook': 'pre-upgrade', 'helm.sh/hook-weight': '-10' })
  const later = list
    .filter(({ metadata }) => !metadata.annotations?.['helm.sh/hook'])
    .filter(({ kind }) => kind === 'Secret' || kind === 'ConfigMap')
  const mentioned = new Set([...JSON.stringify(hook.spec).matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name))
  t.deepEqual(
    later.filter(({ metadata }) => mentioned.has(metadata.name)),
    [],
  )
})

helmTest('the name of a plain Job tells its content, so that none is ever changed in place', async (t) => {
  const nameOf = async (values: Values, args: readonly string[] = []) =>
    oneOf(await render({ migrations: { mode: 'job' }, ...values }, args), 'Job').metadata.name
  const first = await nameOf({})
  t.regex(first, /^gatehouse-migrate-1-12-0-[0-9a-f]{8}$/)
  t.is(await nameOf({}, ['--is-upgrade']), first)
  t.is(await nameOf({ server: { replicas: 5 } }), first)
  t.is(new Set([first, await nameOf({ image: { tag: '1.11.2' } }), await nameOf({ settings: { logLevel: 'debug' } })]).size, 3)
  t.is(ofKind(await render({ migrations: { mode: 'none' } }), 'Job').length, 0)
})

helmTest('whatever serves nothing runs where the server does', async (t) => {
  const server = { nodeSelector: { pool: 'ai' }, tolerations: [{ key: 'ai', operator: 'Exists' }] }
  const pods = podsOf(await render({ server }))
  t.deepEqual(
    pods.map(({ of }) => of.split(' ')[0]),
    ['Deployment', 'Job', 'Pod'],
  )
  for (const { of, spec } of pods) t.like(spec, server, of)
})

for (const major of helms)
  helmTest(`Helm ${major}: labels that are given take the place of others, and none comes twice`, async (t) => {
    const labels = { 'helm.sh/chart': 'fork', 'app.kubernetes.io/managed-by': 'us', 'app.kubernetes.io/version': '1', team: 'ai' }
    const own = { team: 'watch', 'app.kubernetes.io/instance': 'prometheus' }
    const metrics = Object.fromEntries(
      ['serviceMonitor', 'prometheusRule', 'dashboard'].map((name) => [name, { enabled: true, labels: own }]),
    )
    const { stdout, stderr } = await template(major, { values: withValues({ commonLabels: labels, podLabels: { team: 'pods' }, metrics }) })
    const documents = parseAllDocuments(stdout)
    // Two keys of one name are an error to this parser, as they are to kustomize.
    t.deepEqual(
      documents.flatMap(({ errors }) => errors.map(({ message }) => message)),
      [],
      stderr,
    )
    const found = parseObjects(stdout)
    t.is(ofKind(found, 'Deployment').length, 1)
    for (const { kind, metadata } of found)
      t.like(metadata.labels, ['ServiceMonitor', 'PrometheusRule', 'ConfigMap'].includes(kind) ? { ...labels, ...own } : labels, kind)
  })

helmTest('names stay short, valid and apart, whatever the release is called', async (t) => {
  const long = 'a-release-with-a-very-long-name-indeed-and-more-of-it'
  const values = { fullnameOverride: long, gateway: { enabled: true }, metrics: { serviceMonitor: { enabled: true } } }
  const [one, two] = await Promise.all([render(values), render({ ...values, fullnameOverride: `${long.slice(0, -1)}x` })])
  for (const { metadata } of [...one, ...two]) t.regex(metadata.name, /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/)
  t.is(new Set([...names(one), ...names(two)]).size, one.length + two.length)
  t.is(oneOf(await render({ fullnameOverride: 'my.release' }), 'Service').metadata.name, 'my-release')
})

helmTest('a pod may take as long to end as its requests, and new pods come before old ones go', async (t) => {
  const grace = async (given: Values) => serverPod(await render({ settings: given })).spec.terminationGracePeriodSeconds
  t.is(await grace({}), 640)
  t.is(await grace({ terminationGrace: '1.5m' }), 110)
  t.is(await grace({ terminationGrace: '7500ms' }), 28)
  t.deepEqual(oneOf(await render(), 'Deployment').spec?.strategy?.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 })
})

helmTest('log records outlive the container, and the pod where there are volumes', async (t) => {
  const { spec, container, env } = serverPod(await render())
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === env['DATA_DIR'])
  t.deepEqual(
    spec.volumes?.find(({ name }) => name === mount?.name),
    { name: 'data', emptyDir: { sizeLimit: '2048Mi' } },
  )
  const list = await render({ persistence: { enabled: true, size: '3Gi' }, jobs: { enabled: true } })
  const set = oneOf(list, 'StatefulSet')
  t.is(set.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.['storage'], '3Gi')
  t.false(podOf(set)?.spec.volumes?.some(({ name }) => name === 'data'))
  // Only the gateway writes log records.
  t.deepEqual(names(ofKind(list, 'Deployment')), ['Deployment gatehouse-jobs'])
})

helmTest('with the control plane apart, each of its paths leads to it, and every other to the gateway', async (t) => {
  const list = await render({
    control: { enabled: true },
    ingress: { enabled: true, hosts: [{ host: 'gw.example' }] },
    httpRoute: { enabled: true, parentRefs: [{ name: 'edge' }] },
  })
  const served = [
    '/console',
    '/console/sign-in',
    '/invite',
    '/auth/login',
    '/auth/oidc/callback',
    '/scim/v2/Users',
    '/v1/scim/v2/Users',
    '/v1/scim/Users',
    ...features.flatMap(({ routes }) => routes.map(wholePath)),
    ...features.flatMap(({ apps = [] }) => apps.flatMap(({ paths }) => paths)),
    ...features.flatMap(({ files = [] }) => files.map((file) => wholePath(file))),
    ...features
      .flatMap(({ protocols = [] }) => protocols)
      .flatMap(({ prefixes, routes }) => prefixes.flatMap((prefix) => routes.map((route) => prefix + route.path))),
  ]
  const paths = oneOf(list, 'Ingress').spec?.rules?.[0]?.http?.paths ?? []
  const controlled = paths.filter(({ backend }) => backend.service?.name === 'gatehouse-control')
  const begins = controlled.map((rule) => rule.path ?? '')
  const isControlled = (at: string) => begins.some((begin) => at === begin || at.startsWith(`${begin}/`))
  t.deepEqual(
    served.filter((at) => !isControlled(at)),
    [],
  )
  t.deepEqual(
    begins.filter((begin) => !served.some((at) => at === begin || at.startsWith(`${begin}/`))),
    [],
  )
  t.deepEqual(
    Object.values(operations).flatMap(({ path: at }) => (isControlled(`/v1${at}`) ? [at] : [])),
    ['/prompts/{promptId}/completions'],
  )
  t.like(paths.at(-1), { path: '/', backend: { service: { name: 'gatehouse' } } })
  const rules = oneOf(list, 'HTTPRoute').spec.rules ?? []
  const routed = rules.filter(({ backendRefs }) => backendRefs?.[0]?.name === 'gatehouse-control')
  t.deepEqual(
    routed.flatMap(({ matches }) => (matches ?? []).map((match) => match.path?.value)),
    begins,
  )
  t.like(rules.at(-1), { matches: [{ path: { value: '/' } }], backendRefs: [{ name: 'gatehouse' }] })
  t.true(rules.every(({ matches }) => (matches ?? []).length <= 8) && rules.length <= 16)
})

helmTest('the example with CloudNativePG refers to what its cluster makes', async (t) => {
  const example = (file: string) => parse(readFileSync(path.join(chart, 'examples/cloudnative-pg', file), 'utf8')) as Values
  const { metadata, spec } = example('cluster.yaml') as { metadata: { name: string }; spec: { bootstrap: { initdb: Values } } }
  const pod = serverPod(await objects('4', { values: example('values.yaml') }))
  t.is(pod.env['DB_HOST'], `${metadata.name}-rw`)
  // The names that the chart leaves to the image.
  t.deepEqual(spec.bootstrap.initdb, { database: settings.DB_NAME.otherwise, owner: settings.DB_USER.otherwise })
  const sources = pod.spec.volumes?.find(({ name }) => name === 'mounted')?.projected?.sources ?? []
  const mounted = sources.flatMap(({ secret }) => (secret?.items ?? []).map(({ key }) => `${secret?.name} ${key}`))
  t.deepEqual(mounted, ['gatehouse encryption-key', `${metadata.name}-app password`, `${metadata.name}-ca ca.crt`])
})

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
  readonly templating: { readonly list: readonly { readonly query: string }[] }
}

helmTest('alerts and panels ask for metrics that exist, of the pods that are scraped', async (t) => {
  const known = new Set((await createMetrics('1.12.0').registry.getMetricsAsJSON()).map(({ name }) => name))
  const list = await objects('4', { values: ciValues('full-values.yaml') })
  // `ci/full-values.yaml` adds rules of its own.
  const rules = oneOf(list, 'PrometheusRule').spec.groups.flatMap((group) => group.rules)
  const alerts = rules.filter(({ alert }) => alert?.startsWith('Gatehouse'))
  const board = ofKind(list, 'ConfigMap').find(({ metadata }) => metadata.name === 'gh-dashboard')?.data?.['gatehouse.json'] ?? ''
  const { panels, templating } = JSON.parse(board) as Dashboard
  const queries = [...alerts, ...panels.flatMap(({ targets }) => targets)]
    .map(({ expr }) => expr)
    .concat(templating.list.map(({ query }) => query))
  const asked = new Set(queries.flatMap((query) => [...query.matchAll(/\b(?:gateway|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)))
  t.true(asked.size >= 15)
  for (const name of asked) t.true(known.has(name) || known.has(name.replace(/_(?:bucket|sum|count)$/, '')), name)
  for (const { expr } of alerts) t.regex(expr, /\{namespace="ai",job="gh-metrics"/)
  const { matchLabels = {} } = oneOf(list, 'ServiceMonitor').spec.selector
  const scraped = ofKind(list, 'Service').filter(({ metadata }) =>
    Object.entries(matchLabels).every(([name, value]) => metadata.labels?.[name] === value),
  )
  t.deepEqual(names(scraped), ['Service gh-metrics'])
  const targets = podsOf(list).filter(({ labels }) =>
    Object.entries(scraped[0]?.spec?.selector ?? {}).every(([name, value]) => labels[name] === value),
  )
  t.deepEqual(
    targets.map(({ container }) => container.name),
    ['gatehouse', 'gatehouse', 'gatehouse'],
  )
})

/** Helm's notes after an installation. */
async function notes(values: Values): Promise<string> {
  const args = ['install', 'gatehouse', chart, '--namespace', 'ai', '--dry-run=client', '--values', '-']
  const { stdout, stderr } = await helm('4', args, { input: JSON.stringify(withValues(values)) })
  return stdout.split('NOTES:\n')[1] ?? stderr
}

helmTest('the notes tell what to do next, and what the chart cannot know', async (t) => {
  const plain = await notes({})
  t.regex(plain, /^Gatehouse 1\.12\.0 by app-1\.6\.0, as gatehouse in ai\.$/m)
  t.regex(plain, /nodes must have the image gatehouse:1\.12\.0 already/)
  t.regex(plain, /rollout status deployment\/gatehouse\n/)
  t.regex(plain, /helm -n ai test gatehouse --logs/)
  t.regex(plain, /port-forward service\/gatehouse 8787:80/)
  t.regex(plain, /admin key was printed once/)
  const other = await notes({
    global: { imageRegistry: 'registry.example' },
    image: { tag: '1.13.0' },
    secrets: { keys: { initAdminApiKey: 'admin' } },
    migrations: { mode: 'none' },
    persistence: { enabled: true },
  })
  t.regex(other, /does not know release 1\.13\.0/)
  t.regex(other, /does not migrate the schema/)
  t.regex(other, /rollout status statefulset\/gatehouse\n/)
  t.notRegex(other, /No registry|admin key/)
  t.regex(await notes({ image: { tag: 'nightly' } }), /The tag names no release/)
})

helmTest('in diagnostic mode the pods that serve run another command without probes, and the migration stays as it is', async (t) => {
  const list = await render({ diagnosticMode: { enabled: true }, server: { extraArgs: ['--migrate'] } })
  const { container } = serverPod(list)
  t.like(container, { command: ['node', '--eval'].concat(container.command?.slice(2) ?? []), args: [] })
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) t.is(container[probe], undefined, probe)
  const job = oneOf(list, 'Job').spec?.template.spec?.containers[0]
  t.deepEqual([job?.command, job?.args], [undefined, ['migrate']])
})

helmTest('the first Service has the address that was given, and the data on the node its size', async (t) => {
  const list = await render({ service: { clusterIP: 'None' }, control: { enabled: true }, dataSize: '8Gi' })
  const addresses = ofKind(list, 'Service').map(({ metadata, spec }) => [metadata?.name, spec?.clusterIP])
  t.deepEqual(addresses, [
    ['gatehouse', 'None'],
    ['gatehouse-control', undefined],
  ])
  const volumes = oneOf(
    list.filter(({ metadata }) => metadata.name === 'gatehouse'),
    'Deployment',
  ).spec?.template.spec?.volumes
  t.is(volumes?.find(({ name }) => name === 'data')?.emptyDir?.sizeLimit, '8192Mi')
})
