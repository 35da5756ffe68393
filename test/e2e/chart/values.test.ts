import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { loadConfig, settingNames, settings, type SettingName } from '../../../src/config/index.ts'
import { chart, ciValues, helms, helmTest, minimal, objects, serverPod, template, withValues } from '../../support/helm.ts'

type Values = Readonly<Record<string, unknown>>

interface Schema {
  readonly $schema?: string
  readonly description?: string
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Row {
  readonly env: SettingName
  readonly path?: readonly string[]
  readonly secretKey?: string
}

const read = (file: string) => readFileSync(path.join(chart, file), 'utf8')
const schema = JSON.parse(read('values.schema.json')) as Schema
const defaults = parse(read('values.yaml')) as Values
const rows = JSON.parse(read('files/settings.json')) as readonly Row[]

/** Every map of ours in the schema, by its path. */
const maps = (node: Schema, at: readonly string[] = []): readonly (readonly [readonly string[], Schema])[] =>
  node.properties === undefined
    ? []
    : [[at, node], ...Object.entries(node.properties).flatMap(([name, child]) => maps(child, [...at, name]))]

const nest = (at: readonly string[], value: unknown): Values =>
  at.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Values
const render = (values: Values) => template('4', { values, args: ['--skip-schema-validation'] })

test('the schema is of draft-07, refers to nothing, and refuses unknown keys wherever the keys are ours', (t) => {
  t.is(schema.$schema, 'http://json-schema.org/draft-07/schema#')
  t.notRegex(JSON.stringify(schema), /"\$ref"|"\$defs"|unevaluated/)
  t.deepEqual(
    maps(schema)
      .filter(([, node]) => node.additionalProperties !== false)
      .map(([at]) => at.join('.')),
    ['global'],
  )
})

test('each setting has one place among the values, of the type that the setting has', (t) => {
  t.deepEqual(
    rows.map(({ env }) => env),
    [...settingNames],
  )
  for (const { env, path: at, secretKey } of rows) {
    const place = at ?? (secretKey === undefined ? [] : ['secrets', 'keys', secretKey])
    const found = place.reduce<Schema | undefined>((node, name) => node?.properties?.[name], schema)
    t.true(place.length === 0 || found?.description?.startsWith(`${env}: `), env)
  }
})

for (const major of helms) {
  helmTest(`Helm ${major} refuses unknown keys and wrong types by name`, async (t) => {
    const unknown = maps(schema)
      .filter(([at]) => at.join('.') !== 'global')
      .map(([at]) => nest([...at, 'colour'], 'red'))
    const all = unknown.reduce((one, other) => withValues(other, one), minimal)
    const { code, stderr } = await template(major, { values: all })
    t.not(code, 0)
    for (const [at] of maps(schema)) {
      if (at.join('.') === 'global') continue
      const where =
        major === '3'
          ? `- ${at.join('.') || '(root)'}: Additional property colour is not allowed`
          : `at '${at.length > 0 ? `/${at.join('/')}` : ''}': additional properties 'colour' not allowed`
      t.true(stderr.includes(where), `${where} in ${stderr}`)
    }
    const wrong = {
      settings: {
        port: 80,
        logLevel: 'loud',
        scimEnabled: 'OFF',
        requestTimeout: 600,
        trustedProxies: '10.0.0.0/8',
        publicUrl: 'ftp://gateway.example',
        corsOrigins: ['page.example'],
        releaseLevel: 'newest',
        smtpHost: 'smtp://mail.example',
      },
      hostAliases: [{ ip: 'not-an-ip', hostnames: ['provider.example'] }],
      image: { digest: 'sha256:12' },
      server: { replicas: -1, extraArgs: 'serve', verticalAutoscaling: { updateMode: 'Sometimes' } },
      metrics: { prometheusRule: { disabledAlerts: ['GatehouseDwon'], extraRules: [{ alert: 'NoExpression' }] } },
      service: { clusterIP: 'none', sessionAffinity: 'Cookie', trafficDistribution: 'PreferFar' },
      podDisruptionBudget: { unhealthyPodEvictionPolicy: 'Never' },
      externalSecrets: [{ name: 'no-spec' }],
      tls: { certificate: { issuerRef: { name: 'No Name' } } },
      dataSize: 'much',
      diagnosticMode: { command: 'sleep' },
      serviceAccount: { labels: { on: true } },
    }
    const types = await template(major, { values: withValues(wrong) })
    t.not(types.code, 0)
    for (const name of [
      ...Object.keys(wrong.settings),
      ...Object.keys(wrong.service),
      'ip',
      'digest',
      'replicas',
      'extraArgs',
      'updateMode',
      'disabledAlerts',
      'extraRules',
      'unhealthyPodEvictionPolicy',
      'externalSecrets',
      'issuerRef',
      'dataSize',
      'command',
      'labels',
    ])
      t.regex(types.stderr, new RegExp(`[ ./]${name}\\b`), name)
    const entries = await template(major, { values: withValues({ settings: { trustedProxies: ['not-an-ip'] } }) })
    t.regex(entries.stderr, /trustedProxies[./]0/)
  })

  helmTest(`Helm ${major} leaves other keys in global alone, and takes null for unset`, async (t) => {
    const { code, stderr } = await template(major, {
      values: withValues({ global: { region: 'north' }, settings: { logLevel: null, port: null }, terminationGracePeriodSeconds: null }),
    })
    t.is(code, 0, stderr)
  })
}

/** A value for each setting, as an operator would write it, and the resulting value of the process. */
const written = (name: SettingName): readonly [unknown, string] => {
  const { schema: type, example } = settings[name]
  if (type['type'] === 'boolean') return [false, 'OFF']
  if (type['type'] === 'integer' || type['type'] === 'number') return [Number(example), example]
  if (type['type'] === 'array') return [example.split(', '), example.replaceAll(', ', ',')]
  return [example, example]
}

helmTest('each setting reaches the process as it was given, and the process can read it', async (t) => {
  const placed = rows.flatMap(({ env, path: at }) => (at === undefined ? [] : [{ env, at }]))
  const values = placed.reduce((all, { env, at }) => withValues(nest(at, written(env)[0]), all), minimal)
  const { env } = serverPod(await objects('4', { values }))
  for (const { env: name } of placed) t.is(env[name], written(name)[1], name)
  // Paths in the pod do not exist here, and secrets come as such paths.
  const readable = Object.fromEntries(Object.entries(env).filter(([, value]) => !value.startsWith('/etc/gatehouse/')))
  const halves = {
    AWS_SECRET_ACCESS_KEY: 's',
    AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 's',
    IDENTITY_HEADER: 'h',
    OIDC_CLIENT_JWKS: '{"kty":"EC","d":"d"}',
  }
  t.notThrows(() => loadConfig({ ...readable, ...halves }))
})

helmTest('large numbers, fractions, zeros and texts that look like others arrive as they are', async (t) => {
  const given = {
    logSpoolMaxMb: 1_048_576,
    maxJsonPayloadSizeInMb: 0.25,
    maxLogBodySizeInKb: 0,
    initOrgName: 'a: "b" #c 00123 \\ ü',
    scimEnabled: true,
  }
  t.like(serverPod(await objects('3', { values: withValues({ settings: given }) })).env, {
    LOG_SPOOL_MAX_MB: '1048576',
    MAX_JSON_PAYLOAD_SIZE_IN_MB: '0.25',
    MAX_LOG_BODY_SIZE_IN_KB: '0',
    INIT_ORG_NAME: 'a: "b" #c 00123 \\ ü',
    SCIM_ENABLED: 'ON',
  })
})

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Every key of the defaults that holds keys of its own or a list, by its path; and every key at the top. */
const parents = (node: object, at: readonly string[] = []): readonly (readonly string[])[] =>
  Object.entries(node as Values).flatMap(([name, child]) => {
    const here: readonly string[] = at.concat(name)
    const below: readonly (readonly string[])[] = isObject(child) && !Array.isArray(child) ? parents(child, here) : []
    return (isObject(child) || at.length === 0 ? [here] : []).concat(below)
  })

helmTest('no template stumbles over a value that an older release did not have', async (t) => {
  // Null takes a key out of the values, as `--reuse-values` does for keys that are new in a chart.
  const full = ciValues('full-values.yaml')
  const top = Object.keys(defaults)
  const results = await Promise.all(
    parents(defaults).map(async (at) => [at.join('.'), await render(withValues(nest(at, null), full))] as const),
  )
  t.true(results.length > 60)
  for (const [at, { code, stderr }] of results) t.true(code === 0 || /This cannot be installed as it is:/.test(stderr), `${at}: ${stderr}`)
  const needed = new Set(['database', 'secrets'])
  const bare = await render(withValues(Object.fromEntries(top.filter((name) => !needed.has(name)).map((name) => [name, null]))))
  t.is(bare.code, 0, bare.stderr)
})
