import test from 'ava'
import { effectiveSettings, ignoredSettings, loadConfig, settingNames, settings, suspiciousNames } from '../../../src/config/index.ts'

const suspects = test.macro({
  exec: (t, name: string, meant: string | null) => {
    t.deepEqual(suspiciousNames({ [name]: 'x' }), meant === null ? [] : [{ name, meant }])
  },
  title: (_, name: string, meant: string | null) => `${name} ${meant === null ? 'is not suspicious' : `is probably ${meant}`}`,
})

test(suspects, 'DB_HOTS', 'DB_HOST')
test(suspects, 'DB_HOSTT', 'DB_HOST')
test(suspects, 'db_host', 'DB_HOST')
test(suspects, 'DBHOST', 'DB_HOST')
test(suspects, 'LOGLEVEL', 'LOG_LEVEL')
test(suspects, 'ENCRYPTION_KEYS', 'ENCRYPTION_KEY')
test(suspects, 'ENCRYPTON_KEY_FILE', 'ENCRYPTION_KEY_FILE')
test(suspects, 'TRUSTED_CUSTOM_HOST', 'TRUSTED_CUSTOM_HOSTS')
test(suspects, 'GUARDRAIL_ENABLED', 'GUARDRAILS_ENABLED')
test(suspects, 'DB_PASSWORD', 'DB_PASS')
test(suspects, 'DB_HOST_FILE', 'DB_HOST')
test(suspects, 'DB_HOST', null)
test(suspects, 'DB_PASS_FILE', null)
test(suspects, 'PATH', null)
test(suspects, 'HOST', null)
test(suspects, 'HOSTNAME', null)
test(suspects, 'NODE_ENV', null)
test(suspects, 'SHLVL', null)
test(suspects, 'LINES', null)
test(suspects, 'npm_config_user_agent', null)
test(suspects, 'KUBERNETES_SERVICE_PORT', null)

test('no setting looks like a misspelling of another', (t) => {
  t.deepEqual(suspiciousNames(Object.fromEntries(settingNames.map((name) => [name, 'x']))), [])
})

test('settings of a database server are ignored without DB_HOST, and named', (t) => {
  const given = { DB_USER: 'me', DB_PASS_FILE: '/run/secrets/db_pass', DB_POOL_SIZE: '3', DB_SSL: '' }
  t.deepEqual(ignoredSettings(given), ['DB_USER', 'DB_PASS'])
  t.deepEqual(ignoredSettings({ ...given, DB_HOST: 'db' }), [])
})

test('the start log shows defaults, what was given, and masks for secrets', (t) => {
  const key = 'k'.repeat(32)
  const shown = effectiveSettings({ PORT: '9000', DB_PASS: 'canary', INIT_ADMIN_API_KEY: key, DB_SSL_CA: '-----BEGIN CERTIFICATE-----' })
  t.like(shown, {
    PORT: '9000',
    HOST: '127.0.0.1',
    DB_PASS: '[secret]',
    INIT_ADMIN_API_KEY: '[secret]',
    ENCRYPTION_KEY: '(not set)',
    DB_SSL_CA: '[PEM]',
  })
  t.deepEqual(Object.keys(shown), [...settingNames])
  t.notRegex(JSON.stringify(shown), /canary|kkkk/)
})

for (const [name, value] of [
  ['PUBLIC_URL', 'https://u:canary@gateway.example'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://collector.example/?api_key=canary'],
  ['GCP_WIF_TOKEN_URL', 'https://token.example/?secret=canary'],
  ['SMTP_HOST', 'u:canary@smtp.example'],
] as const)
  test(`a secret in a setting that has no room for one is not shown: ${name}`, (t) => {
    const shown = effectiveSettings({ [name]: value })[name]
    t.true(!shown.includes('canary') && shown.includes('example'), shown)
  })

test('the frozen configuration prints no secret either', (t) => {
  const config = loadConfig({ DB_HOST: 'db', DB_PASS: 'canary-password', ENCRYPTION_KEY: 'canary-key' })
  t.notRegex(JSON.stringify(config), /canary/)
})

/** The settings without which an example cannot be. */
const beside: Partial<Record<string, Readonly<Record<string, string>>>> = {
  AWS_ACCESS_KEY_ID: { AWS_SECRET_ACCESS_KEY: 's' },
  AWS_SECRET_ACCESS_KEY: { AWS_ACCESS_KEY_ID: 'a' },
  AWS_ASSUME_ROLE_ACCESS_KEY_ID: { AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 's' },
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: { AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'a' },
  IDENTITY_ENDPOINT: { IDENTITY_HEADER: 'h' },
  IDENTITY_HEADER: { IDENTITY_ENDPOINT: 'http://127.0.0.1/msi/token' },
  OIDC_ISSUER: { OIDC_CLIENT_ID: 'gatehouse', OIDC_CLIENT_SECRET: 's' },
  LOG_STORE: { LOG_STORE_GENERATIONS_BUCKET: 'b', LOG_STORE_ACCESS_KEY: 'a', LOG_STORE_SECRET_KEY: 's' },
}

for (const name of settingNames) {
  test(`${name} explains itself`, (t) => {
    const { desc, example, since, kind } = settings[name]
    t.regex(desc, /^[A-Z].*\.$/s)
    t.truthy(example)
    t.truthy(kind)
    t.regex(since, /^1\.\d+\.\d+$/)
  })
  if (!/output of|path|PEM/i.test(settings[name].example + settings[name].kind)) {
    test(`the example of ${name} works`, (t) => t.truthy(loadConfig({ ...beside[name], [name]: settings[name].example })))
  }
}
