import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { allSettingNames, type SettingName } from '../../src/config/index.ts'

const sources = path.resolve(import.meta.dirname, '../../src')
const read = (file: string) => readFileSync(path.join(sources, file), 'utf8')
const outside = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('config/'))
  .map(read)
  .join('\n')

/** The property into which a setting is loaded whose value has another name. */
const places: Partial<Record<SettingName, string>> = {
  TLS_CERT: 'tls',
  TLS_KEY: 'tls',
  TLS_CA: 'tls',
  DB_HOST: 'database',
  SMTP_HOST: 'mail',
  LOG_STORE: 'logStore',
  AUTH_SSO_TYPE: 'saml',
  OIDC_CLIENT_ID: 'clientId',
  OIDC_CLIENTID: 'clientId',
  MODEL_CONFIGS_PROXY_URL: 'proxyUrl',
  CLOUD_IDENTITIES: 'offeredTo',
  CLOUD_IDENTITY_ORGANISATIONS: 'offeredTo',
  AWS_ACCESS_KEY_ID: 'keys',
  AWS_SECRET_ACCESS_KEY: 'keys',
  AWS_SESSION_TOKEN: 'sessionToken',
  AWS_ROLE_ARN: 'webIdentity',
  AWS_WEB_IDENTITY_TOKEN_FILE: 'webIdentity',
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: 'container',
  AWS_CONTAINER_CREDENTIALS_FULL_URI: 'container',
  AWS_EC2_METADATA_DISABLED: 'instance',
  AWS_EC2_METADATA_SERVICE_ENDPOINT: 'instance',
  AWS_ENDPOINT_URL_STS: 'endpoints',
  AWS_ENDPOINT_URL_SECRETS_MANAGER: 'endpoints',
  AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'assuming',
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 'assuming',
  IDENTITY_ENDPOINT: 'endpoint',
  IDENTITY_HEADER: 'endpoint',
}

/** The property of the configuration that each setting is loaded into. */
const loaded = new Map(
  [
    ...[
      'load.ts',
      'load-log-store.ts',
      'load-identity.ts',
      'load-oidc.ts',
      'load-proxies.ts',
      'load-saml.ts',
      'load-stored.ts',
      'load-tracing.ts',
    ]
      .map((file) => read(`config/${file}`))
      .join('')
      .matchAll(/(\w+): (?:[\w.]+\()?values\.([A-Z0-9_]+)/g),
  ].map(([, property, name]) => [name, property]),
)

/** Whether other code than the loading reads a setting: a flag by its name, another by its property. */
function hasReader(name: SettingName): boolean {
  const property = places[name] ?? loaded.get(name)
  if (property === undefined) return false
  if (property === name) return new RegExp(String.raw`\bflag: '${name}'|\bisOn\('${name}'`).test(outside)
  return new RegExp(String.raw`[.{,]\s*${property}\b|'${property}'`).test(outside)
}

for (const name of allSettingNames) test(`${name} is read`, (t) => t.true(hasReader(name)))

test('flags are asked for by isOn, which knows the level', (t) => {
  t.notRegex(outside, /\bflags(?:\.[A-Z]|\[flag)/)
})
