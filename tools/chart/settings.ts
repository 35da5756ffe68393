import { dataKey, filePath, section, type Leaf, type Tree } from './node.ts'

/** The part of a setting that the chart needs. */
export interface ChartSetting {
  readonly name: string
  readonly desc: string
  readonly since: string
  readonly secret: boolean
  readonly otherwise: string | null
  readonly example: string
  readonly schema: Readonly<Record<string, unknown>>
}

/** The source of a setting's value: a value of the chart, a key of the Secret `secrets.existingSecret`, or the templates. */
export type Place =
  | { readonly env: string; readonly path: readonly string[]; readonly otherwise?: string }
  | { readonly env: string; readonly secretKey: string }
  | { readonly env: string; readonly template: string }

/** The settings that the templates set themselves, and the source of each. */
const fromTemplates: Readonly<Record<string, string>> = {
  DB_PASS: 'database.existingSecret',
  DB_SSL_CA: 'database.ssl.caKey',
  DB_SSL_CERT: 'database.ssl.certKey',
  DB_SSL_KEY: 'database.ssl.keyKey',
  DEPLOYMENT_CHART: 'the version of the chart',
  DEPLOYMENT_IMAGE: 'image',
  DEPLOYMENT_REASON: 'upgrade.allowSkip and upgrade.allowDowngrade, for the migration only',
  ROLES: 'the workloads',
  TLS_CERT: 'tls.certKey',
  TLS_KEY: 'tls.keyKey',
  TLS_CA: 'tls.caKey',
}

/** The settings that have a place of their own among the values. */
const ownPlaces: Readonly<Record<string, readonly string[]>> = {
  DB_HOST: ['database', 'host'],
  DB_PORT: ['database', 'port'],
  DB_NAME: ['database', 'name'],
  DB_USER: ['database', 'user'],
  DB_POOL_SIZE: ['database', 'poolSize'],
  DB_SSL: ['database', 'ssl', 'mode'],
}

/** The differences in a cluster; `value` is the chart's own default. */
const inCluster: Readonly<Record<string, { readonly leaf: Partial<Leaf>; readonly value?: string; readonly note?: string }>> = {
  HOST: { leaf: { example: '0.0.0.0' }, value: '0.0.0.0', note: 'Default: `0.0.0.0`.' },
  PORT: { leaf: { schema: { type: 'integer', minimum: 1024, maximum: 65_535 } } },
  MANAGEMENT_PORT: { leaf: { schema: { type: 'integer', minimum: 1024, maximum: 65_535 } } },
  DATA_DIR: {
    leaf: { example: '/data', schema: { type: 'string', pattern: '^/.+' } },
    value: '/data',
    note: 'Default: `/data`.',
  },
  DB_HOST: { leaf: { otherwise: '' }, note: 'The chart needs one.' },
}

/** `MAX_UPLOAD_SIZE_IN_MB` is `maxUploadSizeInMb`. */
export const camelCase = (name: string): string => name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the source of a setting's value. */
export const placeOf = ({ name, secret }: ChartSetting): Place => {
  const template = fromTemplates[name]
  if (template !== undefined) return { env: name, template }
  if (secret) return { env: name, secretKey: camelCase(name) }
  const otherwise = inCluster[name]?.value
  return { env: name, path: ownPlaces[name] ?? ['settings', camelCase(name)], ...(otherwise === undefined ? {} : { otherwise }) }
}

/** A setting as a value of the chart. It has no default there: the image's own applies, so that a newer image may change it. */
export function settingLeaf(setting: ChartSetting): Leaf {
  const { note, leaf: differs } = inCluster[setting.name] ?? { leaf: {} }
  const otherwise = setting.otherwise ? ` Default: \`${setting.otherwise}\`.` : ''
  const desc = `${setting.name}: ${setting.desc}${note === undefined ? otherwise : ` ${note}`}`
  return { desc, schema: setting.schema, example: exampleFor(setting), since: setting.since, ...differs }
}

function exampleFor({ schema, example, otherwise }: ChartSetting): unknown {
  // The chart holds no addresses but its own home, so that it never causes a download.
  const shown = otherwise || (example.includes('://') ? '' : example)
  if (schema['type'] === 'boolean') return otherwise !== 'OFF'
  if (schema['type'] === 'integer' || schema['type'] === 'number') return Number(shown)
  return schema['type'] === 'array' ? shown.split(',').map((item) => item.trim()) : shown
}

/** `settings` and `secrets`: one value for each setting that has no place elsewhere. */
export function settingsTree(settings: readonly ChartSetting[]): Tree {
  const placed = settings.map((setting) => ({ setting, place: placeOf(setting) }))
  const plain = placed.flatMap(({ setting, place }) =>
    'path' in place && place.path[0] === 'settings' ? [[place.path[1] ?? '', settingLeaf(setting)] as const] : [],
  )
  const secret = placed.flatMap(({ setting, place }) => ('secretKey' in place ? [[place.secretKey, secretLeaf(setting)] as const] : []))
  return {
    settings: section('The settings of Gatehouse. Absent settings have the default of the image that runs.', Object.fromEntries(plain)),
    secrets: section('The settings that are secrets, by the keys of one Secret. They are mounted as files and never values of the chart.', {
      existingSecret: { desc: 'The Secret that holds them.', schema: { type: 'string' }, otherwise: '' },
      keys: section('Which key of the Secret holds which setting; empty: that setting is not given.', Object.fromEntries(secret)),
      files: section(
        'The files that hold settings, written into the pods by something else, such as a CSI driver (mounted with `extraVolumes`) or the agent of a vault: no Secret of Kubernetes is needed then. A file comes before a key.',
        Object.fromEntries(
          secret.map(([name, node]) => [name, { ...filePath(node.desc), ...(node.since !== undefined && { since: node.since }) }]),
        ),
      ),
    }),
  }
}

const secretLeaf = ({ name, desc, since }: ChartSetting): Leaf => ({
  ...dataKey(`${name}: ${desc}`, name === 'ENCRYPTION_KEY' ? 'encryption-key' : ''),
  since,
})
