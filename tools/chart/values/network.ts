import {
  choice,
  cidr,
  dataKey,
  flag,
  integer,
  kubernetes,
  kubernetesList,
  leaf,
  objectName,
  section,
  strings,
  text,
  textList,
  type Schema,
  type Tree,
} from '../node.ts'

const list = (required: readonly string[], properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'array',
  items: { type: 'object', required, properties, additionalProperties: false },
})
const anyText: Schema = { type: 'string' }

const hosts = list(['host'], {
  host: anyText,
  paths: list(['path'], {
    path: { type: 'string', pattern: '^/' },
    pathType: { type: 'string', enum: ['Prefix', 'Exact', 'ImplementationSpecific'] },
  }),
})

const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }

const ranges = { cidr, except: { type: 'array', items: cidr }, ports: { type: 'array', items: port } }
const providers = list(['cidr'], ranges)
const managers = list(['kind', 'cidr'], { kind: { enum: ['awsSecretsManager', 'azureKeyVault', 'hashicorpVault'] }, ...ranges })
const identities: Schema = {
  type: 'array',
  uniqueItems: true,
  items: { enum: ['aws', 'awsContainers', 'eksPodIdentity', 'azure', 'google'] },
}

const ipBlock: Schema = {
  type: 'object',
  required: ['cidr'],
  properties: { cidr, except: { type: 'array', items: cidr } },
  additionalProperties: false,
}
const peer: Schema = {
  type: 'object',
  minProperties: 1,
  properties: { ipBlock, namespaceSelector: { type: 'object' }, podSelector: { type: 'object' } },
  additionalProperties: false,
}
/** A list of peers. A misspelt selector would leave a peer that matches everything, or that Kubernetes refuses in the midst of an upgrade. */
const peers = (desc: string, otherwise: readonly unknown[] = []) => leaf(desc, { type: 'array', items: peer }, otherwise)

/** How Gatehouse is reached, and which hosts it may reach. */
export const network: Tree = {
  tls: section(
    'TLS on the port of the pods. Certificates are read again when the Secret changes, as cert-manager does it; no pod restarts.',
    {
      existingSecret: objectName('The Secret with the certificate; empty: the port speaks plain HTTP.'),
      certKey: dataKey('The key of the certificate with its chain.', 'tls.crt'),
      keyKey: dataKey("The key of the certificate's private key.", 'tls.key'),
      certificate: section('A Certificate of cert-manager, which writes that Secret.', {
        enabled: flag('Create it.', false),
        annotations: strings('Its annotations.'),
        issuerRef: section('The issuer.', {
          name: objectName('Its name.'),
          kind: text('Its kind, such as `ClusterIssuer`.', 'Issuer'),
          group: text('Its API group; empty: that of cert-manager.'),
        }),
        dnsNames: textList('The names that it is for; empty: those of the Services in the cluster.'),
        duration: text('How long it is valid, such as `2160h`; empty: the default of cert-manager.'),
        renewBefore: text('How long before its end it is renewed; empty: the default of cert-manager.'),
        spec: kubernetes('More of its `spec`, such as `privateKey` and `usages`.'),
      }),
      caKey: dataKey(
        'The key of the authorities of client certificates; empty: callers need none. Probes have none, so that it needs `settings.managementPort`.',
      ),
    },
  ),
  service: section('The Service; with the role `control` apart there is a second one, `<name>-control`.', {
    type: choice('Its type.', ['ClusterIP', 'NodePort', 'LoadBalancer'], 'ClusterIP'),
    port: leaf('Its port.', port, 80),
    nodePort: { desc: 'The port on the nodes, of the first Service.', schema: port, example: 30_080 },
    annotations: strings('Its annotations.'),
    labels: strings('More labels of it.'),
    loadBalancerClass: text('The class of its load balancer.'),
    loadBalancerIP: text('The address that its load balancer should have, where the cluster supports that.'),
    loadBalancerSourceRanges: leaf('The address ranges that its load balancer lets in; empty: all.', { type: 'array', items: cidr }, []),
    externalTrafficPolicy: choice(
      '`Local` keeps the address of the caller and sends to pods of the same node only. For NodePort and LoadBalancer.',
      ['', 'Cluster', 'Local'],
      '',
    ),
    clusterIP: leaf(
      'The address of the first Service, or `None` for none (headless); empty: one of the cluster. Kubernetes never changes it.',
      { type: 'string', pattern: '^(|None|[0-9a-fA-F:.]+)$' },
      '',
    ),
    sessionAffinity: choice('`ClientIP` sends a caller to the same pod.', ['', 'None', 'ClientIP'], ''),
    sessionAffinityConfig: kubernetes('How long that lasts: `{ clientIP: { timeoutSeconds: 600 } }`.'),
    trafficDistribution: choice(
      'Which pods are preferred; Kubernetes 1.31 or newer knows it.',
      ['', 'PreferClose', 'PreferSameZone', 'PreferSameNode'],
      '',
    ),
    ipFamilyPolicy: choice('One address family or two.', ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'], ''),
    ipFamilies: textList('The address families, in order.'),
  }),
  ingress: section('An Ingress.', {
    enabled: flag('Create it.', false),
    className: text('The class.'),
    annotations: strings('Its annotations.'),
    hosts: leaf('The hosts, each with paths (`/` when none is given).', hosts, []),
    tls: kubernetesList('The hosts with a certificate, and the Secrets that hold them.'),
  }),
  httpRoute: section('An HTTPRoute of the Gateway API.', {
    enabled: flag('Create it.', false),
    annotations: strings('Its annotations.'),
    parentRefs: kubernetesList('The gateways to join.'),
    hostnames: textList('The host names.'),
    filters: kubernetesList('Filters of each of its rules.'),
    timeouts: kubernetes('Timeouts of each of its rules. `request` has to outlast the longest stream.'),
  }),
  networkPolicy: section('A NetworkPolicy for all pods of the release.', {
    enabled: flag('Create it.', false),
    preset: choice('`open`: any destination. `airGap`: only DNS, the database and the peers below.', ['open', 'airGap'], 'open'),
    from: peers('The peers that may send requests, as in a NetworkPolicy; empty: all.'),
    database: peers('The peers of the database, as in a NetworkPolicy (with `airGap`).'),
    providers: leaf('The providers to reach, by address range and ports (443 when none is given; with `airGap`).', providers, []),
    identityProviders: leaf(
      'The identity providers by which people sign in, by address range and ports (443 when none is given; with `airGap`).',
      providers,
      [],
    ),
    secretManagers: leaf(
      'The secret managers, each by `kind` (`awsSecretsManager`, `azureKeyVault`, `hashicorpVault`), address range and ports (8200 for Vault and 443 for the others when none is given; with `airGap`).',
      managers,
      [],
    ),
    cloudIdentities: leaf(
      'The metadata services of the platform that give Gatehouse an identity: `aws` (instances), `awsContainers` (ECS), `eksPodIdentity`, `azure`, `google` (with `airGap`). Services of tokens on the network, such as STS and Entra, belong to `providers`.',
      identities,
      [],
    ),
    dns: peers('The peers of DNS, as in a NetworkPolicy (with `airGap`).', [
      { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } },
    ]),
    extraIngress: kubernetesList('More ingress rules.'),
    extraEgress: kubernetesList('More egress rules (with `airGap`).'),
  }),
}

const monitor: Tree = {
  namespace: objectName('Its namespace; empty: that of the pods.'),
  labels: strings('Its labels, by which Prometheus finds it.'),
  interval: text('The interval between scrapes; empty: the default of Prometheus.'),
  scrapeTimeout: text('The timeout of a scrape; empty: the default of Prometheus.'),
  tlsConfig: kubernetes('How to check the certificate of the port (with `tls`, and without `settings.managementPort`).'),
  authorization: kubernetes('The `Authorization` of the scrape, if `settings.metricsAccess` is `token`.'),
  honorLabels: flag('Keep labels of the metrics that Prometheus has labels of the same name for.', false),
  relabelings: kubernetesList('Relabelings of the target.'),
  metricRelabelings: kubernetesList('Relabelings of the metrics.'),
}

/** The names of the alerts in `templates/_alerts.tpl`. */
const alerts = [
  'GatehouseDown',
  'GatehouseErrors',
  'GatehouseSlow',
  'GatehouseLogsDropped',
  'GatehouseLogsWaiting',
  'GatehouseMigrationsPending',
  'GatehouseDatabasePoolShort',
  'GatehouseJobFails',
  'GatehouseLimitsAway',
  'GatehousePricesOld',
  'GatehousePriceListsDiffer',
  'GatehouseUsageInconsistent',
  'GatehouseLogStoreFails',
  'GatehouseLogStoreBehind',
  'GatehouseExportsFail',
  'GatehouseSpendHigh',
]

/** The values for Prometheus and Grafana. */
export const metrics: Tree = {
  metrics: section('Metrics are at `/metrics`, without a key.', {
    serviceMonitor: section('A ServiceMonitor of the Prometheus operator.', {
      enabled: flag('Create it.', false),
      ...monitor,
    }),
    podMonitor: section('A PodMonitor of the Prometheus operator, in place of the ServiceMonitor.', {
      enabled: flag('Create it.', false),
      ...monitor,
    }),
    prometheusRule: section('A PrometheusRule with alerts.', {
      enabled: flag('Create it.', false),
      labels: strings('Its labels, by which Prometheus finds it.'),
      alertLabels: strings('More labels of each alert.'),
      errorRatio: leaf('The share of answers with 5xx above which an alert fires.', { type: 'number', minimum: 0, maximum: 1 }, 0.05),
      overheadSeconds: leaf(
        'The 99th percentile of time spent in Gatehouse itself above which an alert fires.',
        { type: 'number', minimum: 0 },
        0.1,
      ),
      dollarsPerHour: leaf(
        'The US dollars that requests may cost in an hour before an alert fires; 0: none does.',
        { type: 'number', minimum: 0 },
        0,
      ),
      disabledAlerts: leaf(
        'The alerts to leave out, by name.',
        { type: 'array', uniqueItems: true, items: { type: 'string', enum: alerts } },
        [],
      ),
      extraRules: leaf(
        'More rules, as a PrometheusRule has them, alerts of yours and recordings. `{{ }}` is left to Prometheus.',
        {
          type: 'array',
          items: {
            type: 'object',
            required: ['expr'],
            oneOf: [{ required: ['alert'] }, { required: ['record'] }],
            properties: {
              alert: { type: 'string', minLength: 1 },
              record: { type: 'string', minLength: 1 },
              expr: { type: ['string', 'number'] },
              for: { type: 'string' },
              keep_firing_for: { type: 'string' },
              labels: { type: 'object', additionalProperties: { type: 'string' } },
              annotations: { type: 'object', additionalProperties: { type: 'string' } },
            },
            additionalProperties: false,
          },
        },
        [],
      ),
      jobFailures: integer('How many failures of one background job in an hour fire an alert.', 3, 1),
    }),
    dashboard: section('A ConfigMap with a Grafana dashboard.', {
      enabled: flag('Create it.', false),
      labels: strings('Its labels, by which Grafana finds it.', { grafana_dashboard: '1' }),
      annotations: strings('Its annotations, such as the folder.'),
    }),
  }),
}
