import {
  choice,
  flag,
  integer,
  kubernetes,
  kubernetesList,
  leaf,
  resources,
  section,
  strings,
  text,
  type Leaf,
  type Tree,
} from '../node.ts'

/** A reason in words, or the empty text. */
const reason = (desc: string): Leaf => leaf(desc, { type: 'string', pattern: '^(|.{10,500})$' }, '')

/** Migrations, upgrades, tests, and the ways out of the chart. */
export const operations: Tree = {
  migrations: section('The migration of the schema. Pods that serve never migrate; until the Job is done they are live but not ready.', {
    mode: choice(
      '`hook`: a Job when the release is installed, and a hook before each upgrade, which aborts the upgrade when it fails. `job`: always a plain Job, for tools that run no hooks. `none`: you run `gatehouse migrate` yourself.',
      ['hook', 'job', 'none'],
      'hook',
    ),
    resources: resources('Requests and limits of the Job.', { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '512Mi' } }),
    podAnnotations: strings('More annotations of its pod.'),
    podLabels: strings('More labels of its pod; none of the labels that select pods.'),
    annotations: strings('More annotations of the Job.'),
    ttlSecondsAfterFinished: {
      desc: 'The time after which a finished Job is removed; unset: it stays until the next upgrade.',
      schema: { type: 'integer', minimum: 0 },
      example: 86_400,
    },
    nodeSelector: strings("The labels of nodes to run on; empty: the server's."),
    tolerations: kubernetesList("The taints to bear; empty: the server's."),
    affinity: kubernetes("The affinity; empty: the server's."),
    priorityClassName: text('The priority class; empty: that of all pods.'),
    activeDeadlineSeconds: {
      desc: 'The time limit of the Job; unset: none, because a stopped migration must begin again.',
      schema: { type: 'integer', minimum: 1 },
      example: 3600,
    },
    backoffLimit: integer('How often the plain Job is tried again; the hook is tried once.', 3),
  }),
  upgrade: section(
    'The guard of upgrades. The Secret `<name>-state` holds the release that was installed last; a tag that names none, such as `main`, leaves that as it is.',
    {
      allowSkip: reason(
        'The reason why this upgrade may skip a release at which it must stop; empty: it may not. Kept in that Secret and in the release history.',
      ),
      allowDowngrade: reason(
        'The reason why this upgrade may go to an earlier release; empty: it may not. Kept in that Secret and in the release history.',
      ),
    },
  ),
  tests: section('The pod that `helm test` runs: `gatehouse preflight --quick`.', { enabled: flag('Make it.', true) }),
  extraEnv: kubernetesList('More environment variables of all containers; no settings of Gatehouse.'),
  extraEnvFrom: kubernetesList('More sources of environment variables.'),
  extraVolumes: kubernetesList('More volumes.'),
  extraVolumeMounts: kubernetesList('More mounts.'),
  extraInitContainers: kubernetesList(
    'Containers to run before Gatehouse, in all of its pods; with `restartPolicy: Always` also beside it.',
  ),
  extraContainers: kubernetesList(
    'Containers to run beside Gatehouse where it serves. Containers that the migration needs too, such as the proxy of a database, belong into `extraInitContainers` with `restartPolicy: Always`: the Job could never end beside a container that does not.',
  ),
  externalSecrets: leaf(
    'ExternalSecrets of the External Secrets operator, for the Secrets that other values name. Each makes the Secret of its `name`, unless its `spec.target` says otherwise. The hook that migrates needs the Secrets before an upgrade; they are there from the installation on.',
    {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'spec'],
        properties: {
          name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' },
          annotations: { type: 'object', additionalProperties: { type: 'string' } },
          spec: { type: 'object', minProperties: 1 },
        },
        additionalProperties: false,
      },
    },
    [],
  ),
  extraManifests: leaf(
    'More objects, as maps or as text; both are templates.',
    { type: 'array', items: { type: ['object', 'string'] } },
    [],
  ),
}
