import test from 'ava'
import { mailAt } from '../../../src/config/effect.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { fixedLevel } from '../../../src/release/level.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'

const off = {
  GUARDRAILS_ENABLED: 'OFF',
  POLICY_ENABLED: 'OFF',
  AUDIT_LOGS_ENABLED: 'OFF',
  SCIM_ENABLED: 'OFF',
  DB_SSL: 'DISABLED',
}

const paths = ['/guardrails', '/policies/usage-limits', '/audit-logs', '/scim/tokens']

const statuses = ({ baseUrl, adminKey }: TestApp) =>
  Promise.all(paths.map(async (path) => (await send(`${baseUrl}/v1${path}`, { headers: { 'x-service-api-key': adminKey } })).status))

const warnings = ({ logged }: TestApp) => logged.flatMap(({ name, msg }) => (typeof name === 'string' && name in off ? [String(msg)] : []))

test('below its release a flag turns nothing off, and the start says so', async (t) => {
  const app = await startApp({ env: { ...off, RELEASE_LEVEL: '1.8.0' } })
  t.teardown(() => app.stop())
  t.deepEqual(await statuses(app), [200, 200, 200, 200])
  const later = 'has no effect: it comes with release 1.9.0, and the level of this installation is 1.8.0'
  t.deepEqual(warnings(app), [
    `GUARDRAILS_ENABLED ${later}`,
    `AUDIT_LOGS_ENABLED ${later}`,
    `SCIM_ENABLED ${later}`,
    `POLICY_ENABLED ${later}`,
  ])
})

test('from its release on a flag turns off, and nothing is said of it', async (t) => {
  const app = await startApp({ env: { ...off, RELEASE_LEVEL: '1.9.0' } })
  t.teardown(() => app.stop())
  t.deepEqual(await statuses(app), [404, 404, 404, 404])
  t.deepEqual(warnings(app), [])
})

test('the TLS of the database stays as it was set, whatever the level', async (t) => {
  const app = await startApp({ env: { DB_SSL: 'DISABLED', RELEASE_LEVEL: '1.6.0' } })
  t.teardown(() => app.stop())
  t.deepEqual(warnings(app), [
    'DB_SSL comes with release 1.6.2, and the level of this installation is 1.6.0: it stays in effect, so that nothing becomes less safe',
  ])
  t.is(loadConfig({ DB_HOST: 'db', DB_SSL: 'REQUIRED', RELEASE_LEVEL: '1.6.0' }).database.ssl.mode, 'REQUIRED')
})

test('the looks of mails are those of the level', (t) => {
  const { mail } = loadConfig({
    SMTP_HOST: 'smtp',
    EMAIL_COMPANY_NAME: 'Example <Ltd>',
    EMAIL_TEMPLATES_PATH: '/own',
    EMAIL_DOCS_URL: 'https://a.b',
  })
  if (mail === null) throw new Error('no mail server was read')
  t.like(mailAt(mail, fixedLevel('1.4.0')), {
    from: 'Example Ltd <no-reply@smtp>',
    templatesPath: '/own',
    brand: { company_name: 'Example <Ltd>', docs_url: mail.brand.docs_url },
  })
  t.deepEqual(mailAt(mail, fixedLevel('1.3.3')), {
    from: 'Gatehouse <no-reply@smtp>',
    templatesPath: null,
    brand: { company_name: 'Gatehouse', logo_url: '', support_email: '', docs_url: '' },
  })
})
