import {
  choice,
  flag,
  integer,
  kubernetes,
  kubernetesList,
  leaf,
  objectName,
  resources,
  section,
  storage,
  strings,
  text,
  textList,
  type Tree,
} from '../node.ts'

const autoscaling = section('A HorizontalPodAutoscaler. While it is on, the workload names no number of replicas.', {
  enabled: flag('Create it.', false),
  minReplicas: integer('The minimum number of replicas.', 2, 1),
  maxReplicas: integer('The maximum number of replicas.', 10, 1),
  targetCPU: leaf('The wanted use of the requested CPU, in percent; 0: do not look.', { type: 'integer', minimum: 0 }, 70),
  targetMemory: leaf('The wanted use of the requested memory, in percent; 0: do not look.', { type: 'integer', minimum: 0 }, 0),
  targetInFlight: leaf(
    'The wanted number of requests in flight in each pod, the load of a gateway that streams; 0: do not look. The cluster has to serve the metric of the pods that `inFlightMetric` names (Prometheus adapter), unless `keda` is on.',
    { type: 'integer', minimum: 0 },
    0,
  ),
  inFlightMetric: text('The name of that metric.', 'gateway_inflight'),
  extraMetrics: kubernetesList('More metrics, as a HorizontalPodAutoscaler has them.'),
  keda: section('A ScaledObject of KEDA in place of the HorizontalPodAutoscaler.', {
    enabled: flag('Create it.', false),
    prometheusAddress: text('The address of Prometheus, which is asked for the requests in flight (with `targetInFlight`).'),
    pollingInterval: integer('How often KEDA looks, in seconds.', 30, 1),
    cooldownPeriod: integer('How long KEDA waits before it scales to the fewest, in seconds.', 300),
    extraTriggers: kubernetesList('More triggers, as a ScaledObject has them.'),
  }),
  behavior: kubernetes('How fast it may scale.'),
})

const vertical = section('A VerticalPodAutoscaler, of the operator of that name.', {
  enabled: flag('Create it.', false),
  updateMode: choice(
    'What it may do: `Off` only recommends. Any other is refused beside `autoscaling` by CPU or memory, since both would answer the same load.',
    ['Off', 'Initial', 'Recreate', 'InPlaceOrRecreate', 'Auto'],
    'Off',
  ),
  minAllowed: kubernetes('The least that it may request, such as `{ memory: 384Mi }`.'),
  maxAllowed: kubernetes('The most that it may request.'),
  controlledResources: leaf('The resources that it decides about.', { type: 'array', items: { enum: ['cpu', 'memory'] } }, [
    'cpu',
    'memory',
  ]),
})

const common = (replicas: number, cpu: string): Tree => ({
  replicas: integer('The number of replicas without autoscaling.', replicas),
  resources: resources('Requests and limits.', { requests: { cpu, memory: '384Mi' }, limits: { memory: '1Gi' } }),
  autoscaling,
  verticalAutoscaling: vertical,
  nodeSelector: strings('The labels of nodes to run on.'),
  tolerations: kubernetesList('The tolerations.'),
  affinity: kubernetes('The affinity.'),
  topologySpreadConstraints: kubernetesList('The spread of the pods; empty: over hosts, if possible.'),
  podAnnotations: strings('More annotations of its pods.'),
  podLabels: strings('More labels of its pods; none of the labels that select them.'),
  extraArgs: textList('More arguments of `gatehouse serve`.'),
  extraContainers: kubernetesList('Containers to run beside Gatehouse in its pods, after `extraContainers` of all pods.'),
  annotations: strings('Annotations of the Deployment or StatefulSet, such as those of a reloader.'),
  strategy: kubernetes(
    'How pods are replaced, as a Deployment has it (`updateStrategy` of a StatefulSet); empty: new pods come before old ones go.',
  ),
  priorityClassName: text('The priority class; empty: that of all pods.'),
  podSecurityContext: kubernetes('The security context of its pods, in place of that of all pods.'),
  securityContext: kubernetes('The security context of its containers, in place of that of all containers.'),
})

const separate = (role: string, what: string, own: Tree) =>
  section(`A workload of its own for the role \`${role}\`: ${what}.`, {
    enabled: flag(`Serve the role \`${role}\` apart from the others.`, false),
    ...own,
  })

/** The workloads by role. Each role is served exactly once: by its own workload, else by `server`. */
export const workloads: Tree = {
  server: section('The workload with every role that has none of its own.', common(2, '250m')),
  gateway: separate('gateway', 'it forwards requests to providers', common(2, '500m')),
  control: separate('control', 'it serves the control plane; Ingress and HTTPRoute send its paths there', common(2, '100m')),
  jobs: separate('jobs', 'it runs background jobs, one replica at a time', common(1, '100m')),
}

const probe = (desc: string, periodSeconds: number, failureThreshold: number) =>
  section(desc, {
    periodSeconds: integer('How often, in seconds.', periodSeconds, 1),
    timeoutSeconds: integer('How long an answer may take, in seconds.', 3, 1),
    failureThreshold: integer('How many failures in a row count.', failureThreshold, 1),
  })

/** The values that all pods share. */
export const pods: Tree = {
  podLabels: strings('More labels of the pods; none of the labels that select them.'),
  podAnnotations: strings('More annotations of the pods.'),
  podSecurityContext: kubernetes(
    'The security context of the pods. The image also runs with any other user in group 0: on OpenShift set `runAsUser`, `runAsGroup` and `fsGroup` to null.',
    {
      runAsNonRoot: true,
      runAsUser: 10_001,
      runAsGroup: 10_001,
      fsGroup: 10_001,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
  ),
  securityContext: kubernetes('The security context of the containers.', {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }),
  priorityClassName: text('The priority class.'),
  runtimeClassName: text('The runtime class.'),
  schedulerName: text('The scheduler; empty: that of the cluster.'),
  hostAliases: leaf(
    'Lines of `/etc/hosts`.',
    {
      type: 'array',
      items: {
        type: 'object',
        properties: { ip: { type: 'string', pattern: '^[0-9a-fA-F:.]+$' }, hostnames: { type: 'array', items: { type: 'string' } } },
        required: ['ip', 'hostnames'],
        additionalProperties: false,
      },
    },
    [],
  ),
  dnsPolicy: choice(
    'The DNS policy; empty: the default of Kubernetes.',
    ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'],
    '',
  ),
  dnsConfig: kubernetes('Name servers, search domains and options.'),
  command: textList(
    'The command of the containers that serve, in place of that of the image, such as a wrapper that ends with `gatehouse`. It gets the arguments `serve` and `extraArgs`.',
  ),
  diagnosticMode: section(
    'Starts the pods that serve without serving, so that you can look into one by `kubectl exec`: for files, volumes and `gatehouse doctor`. They have no probes, and get no requests that reach anything.',
    {
      enabled: flag('Do so.', false),
      command: textList('The command that runs in place of Gatehouse. The image has no shell.', [
        'node',
        '--eval',
        "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 60000)",
      ]),
      args: textList('Its arguments.'),
    },
  ),
  lifecycle: kubernetes(
    'Hooks of the containers that serve. The image has no shell; it needs no `preStop`, since the process drains by itself.',
  ),
  terminationGracePeriodSeconds: {
    desc: 'The time that a pod has to end; unset: TERMINATION_GRACE plus 20 seconds. A shorter time is refused.',
    schema: { type: 'integer', minimum: 1 },
    example: 640,
  },
  minReadySeconds: integer('How long a new pod must be ready before the next one is replaced.', 5),
  progressDeadlineSeconds: integer('The time after which a rollout counts as stuck.', 900, 1),
  revisionHistoryLimit: integer('The number of former revisions that are kept.', 5),
  probes: section('When a pod counts as started, alive and ready. Only readiness asks for the database.', {
    startup: probe('`/healthz`, until the process listens.', 2, 60),
    liveness: probe('`/healthz`.', 10, 6),
    readiness: probe('`/readyz`.', 2, 2),
  }),
  podDisruptionBudget: section('A PodDisruptionBudget for each workload that has more than one replica.', {
    enabled: flag('Make them.', true),
    maxUnavailable: leaf('The number of pods of a workload that an eviction may remove at once.', { type: ['integer', 'string'] }, 1),
    unhealthyPodEvictionPolicy: choice(
      'Whether pods that are not ready may be evicted although the budget is spent, as `AlwaysAllow` has it; empty: the default of Kubernetes.',
      ['', 'IfHealthyBudget', 'AlwaysAllow'],
      '',
    ),
    minAvailable: {
      desc: 'The number of pods of a workload that an eviction must leave, instead of `maxUnavailable`.',
      schema: { type: ['integer', 'string'] },
      example: '50%',
    },
  }),
  persistence: section(
    'The place where log records wait until PostgreSQL has stored them. Off: on the node, where they survive a restart of the container but not the loss of the pod. On: each pod has a volume of its own, and the workloads with the role `gateway` are StatefulSets.',
    {
      enabled: flag('Keep them on persistent volumes.', false),
      existingClaim: objectName(
        'One claim of yours that all these pods share, in place of a volume for each; the workloads stay Deployments. With more than one pod it has to be ReadWriteMany.',
      ),
      size: {
        ...storage(
          'The size of one volume; unset: twice LOG_SPOOL_MAX_MB. Less than that setting is refused. A StatefulSet that is there keeps the size that it was created with.',
        ),
        example: '2Gi',
      },
      storageClass: text('The storage class; empty: that of the cluster.'),
      accessModes: textList('The access modes.', ['ReadWriteOnce']),
      annotations: strings('Annotations of the claims.'),
      whenDeleted: choice('The fate of the volumes when the workload is deleted.', ['Retain', 'Delete'], 'Retain'),
      whenScaled: choice('The fate of the volumes of pods that are scaled down.', ['Retain', 'Delete'], 'Retain'),
    },
  ),
  dataSize: {
    ...storage('The size of the data on the node without `persistence`; unset: twice LOG_SPOOL_MAX_MB. Less than that setting is refused.'),
    example: '2Gi',
  },
  tmpSize: storage('The size of `/tmp`, the only other place where a pod can write.', '256Mi'),
}
