import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { hasOpenssl, makeAuthority, makeCertificate, type Certificate } from '../../support/certificates.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { send } from '../../support/http.ts'
import { openBrowser, publicUrl } from '../../support/oidc/browser.ts'
import { startCertified, type CertifiedProvider } from '../../support/oidc/certified.ts'
import { environment } from '../../support/process.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

const check = hasOpenssl ? test.serial : test.serial.skip
const path = '/admin/organisation/sso'
const client = { client_id: 'gatehouse', client_secret: 'a-client-secret-that-nobody-may-see' }
const unknown = /its TLS certificate comes from an unknown authority/

let authority: Certificate
let stranger: Certificate
let provider: CertifiedProvider
let control: Control
let settings: Readonly<Record<string, string>>
let own: Tenant
let first: string

test.before(async (t) => {
  if (!hasOpenssl)
    return t.log('SKIPPED: openssl is not on the PATH, so that no certificates can be made; authorities of issuers are not tested here')
  authority = makeAuthority('A company')
  stranger = makeAuthority('Another company')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const keys = [{ ...rsa, kid: 'sig-1', use: 'sig', alg: 'RS256' }]
  const known = { ...client, redirect_uris: [`${publicUrl}/auth/oidc/callback`, `${publicUrl}/auth/oidc/own/callback`] }
  provider = await startCertified([known], { keys }, makeCertificate(authority, 'localhost'))
  settings = {
    ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
    TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1',
    PUBLIC_URL: publicUrl,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: client.client_id,
    OIDC_CLIENT_SECRET: client.client_secret,
    OIDC_DOMAINS: 'first.example',
    OIDC_AUTO_PROVISION: 'ON',
    OIDC_CA: authority.certFile,
    ORGANISATION_DOMAINS: 'own=own.example',
  }
  control = await startControl({}, settings)
  own = await control.createTenant('own')
  const { rows } = await control.sql.query<{ slug: string }>('SELECT slug FROM organisations ORDER BY created_at LIMIT 1')
  first = rows[0]?.slug ?? ''
})
test.after.always(async () => {
  await control?.close()
  provider?.close()
})

const set = (more: Readonly<Record<string, unknown>> = {}) =>
  control.call(own.adminKey, 'PUT', path, {
    type: 'oidc',
    issuer: provider.issuer,
    ...client,
    domains: ['own.example'],
    auto_provision: true,
    ...more,
  })

async function comeIn(organisation: string, email: string, { origin }: Pick<Control, 'origin'> = control) {
  provider.person = { sub: email, claims: { email, email_verified: true } }
  return openBrowser(origin, authority.cert).signIn(`/auth/oidc/${organisation}/login`)
}

const lost = (organisation: string) => send(`${control.origin}/auth/oidc/${organisation}/login`)

async function doctor() {
  const env = { ...environment(control.started.deps.config.database), ...settings }
  const { stdout, stderr } = await gatehouseHere(['doctor', 'sso', '--json', '--organisation', 'own'], { env })
  const { organisations } = JSON.parse(stdout || '{}') as {
    organisations?: readonly { readonly troubles: readonly { readonly id: string; readonly what: string; readonly fix: string }[] }[]
  }
  return organisations?.[0]?.troubles ?? [{ id: 'failed', what: stderr, fix: '' }]
}

check('OIDC_CA is the authority of the issuer of the settings: discovery, token, keys and user-info', async (t) => {
  const answer = await comeIn(first, 'ada@first.example')
  t.is(answer.status, 303, answer.text)
})

check('OIDC_REDIRECT_URI is where the issuer sends people back to, and what it is asked for tokens with', async (t) => {
  const redirectUri = `${publicUrl}/auth/oidc/callback`
  const elsewhere = await startControl({}, { ...settings, PUBLIC_URL: 'https://console.example', OIDC_REDIRECT_URI: redirectUri })
  t.teardown(() => elsewhere.close())
  const sent = await send(`${elsewhere.origin}/auth/oidc/${first}/login`)
  t.is(new URL(sent.headers.location ?? '').searchParams.get('redirect_uri'), redirectUri)
  const answer = await comeIn(first, 'bea@first.example', elsewhere)
  t.is(answer.status, 303, answer.text)
})

check('without OIDC_CA nobody signs in by an issuer whose authority is not known, and the test and doctor say why', async (t) => {
  t.is((await set()).status, 200)
  const answer = await lost('own')
  t.is(answer.status, 502, answer.text)
  t.regex(answer.text, unknown)
  const tested = await control.call(own.adminKey, 'POST', `${path}/test`)
  t.like(tested.body, { ok: false })
  t.regex(tested.text, unknown)
  const [trouble] = await doctor()
  t.is(trouble?.id, 'sso-unreachable')
  t.regex(trouble?.what ?? '', unknown)
  t.regex(trouble?.fix ?? '', /`?ca`? \(`?OIDC_CA`?\)/)
})

check('with it people sign in, and the test and doctor have nothing to say', async (t) => {
  const saved = await set({ ca: authority.cert })
  t.is(saved.status, 200, saved.text)
  t.like(saved.body, { ca: authority.cert })
  const answer = await comeIn('own', 'bo@own.example')
  t.is(answer.status, 303, answer.text)
  t.like((await control.call(own.adminKey, 'POST', `${path}/test`)).body, { ok: true })
  t.deepEqual(await doctor(), [])
})

check('the authority of one organisation vouches to no other, though the connection to the same issuer is open', async (t) => {
  t.is((await set({ ca: authority.cert })).status, 200)
  t.is((await comeIn('own', 'cy@own.example')).status, 303)
  t.is((await set({ ca: stranger.cert })).status, 200)
  const answer = await lost('own')
  t.is(answer.status, 502, answer.text)
  t.regex(answer.text, unknown)
  t.is((await comeIn(first, 'ada@first.example')).status, 303)
})

check('a secret that is stored goes to nobody for whom another authority vouches', async (t) => {
  t.is((await set({ ca: authority.cert })).status, 200)
  t.is((await set({ ca: authority.cert, client_secret: undefined })).status, 200)
  const moved = await set({ ca: stranger.cert, client_secret: undefined })
  t.is(moved.status, 400)
  t.regex(moved.text, /"param":"client_secret"/)
})

check('what is no certificate is refused with its field', async (t) => {
  const broken = authority.cert.replace(/M[A-Za-z0-9+/]{20}/, 'AAAA')
  for (const [ca, expected] of [
    ['no PEM', /holds no certificate/],
    [authority.certFile, /holds no certificate/],
    [authority.key, /holds no certificate/],
    [broken, /number 1\) that cannot be read/],
    [`${authority.cert}${broken}`, /number 2\) that cannot be read/],
  ] as const) {
    const answer = await set({ ca })
    t.is(answer.status, 400, ca)
    t.regex(answer.text, /"param":"ca"/)
    t.regex(answer.text, expected)
  }
})
