import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { makeKeyPair } from '../../../src/features/identity-providers/saml/key-pair.ts'
import { errorOf } from '../../support/caller.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { publicUrl } from '../../support/oidc/browser.ts'
import { openSamlBrowser, type SamlBrowser } from '../../support/saml/browser.ts'
import { craft, makeIdp, requestIn, type CraftedIdp, type Crafting } from '../../support/saml/crafted.ts'
import { samlifyIdp, samlpIdp, type RealIdp, type SamlPerson } from '../../support/saml/real-idps.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let ofSettings: RealIdp
let crafted: CraftedIdp
/** The organisation of the settings, and another one. */
let first: Tenant
let second: Tenant

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-saml-'))
const path = '/admin/organisation/sso'

test.before(async () => {
  const given = await makeKeyPair(Date.now())
  ofSettings = await samlifyIdp('https://samlify.example', { signedRequests: true, encrypts: false })
  crafted = await makeIdp('https://idp.example')
  const metadataFile = join(folder, 'metadata.xml')
  writeFileSync(metadataFile, ofSettings.metadata)
  control = await startControl(
    {},
    {
      PUBLIC_URL: publicUrl,
      AUTH_SSO_TYPE: 'saml',
      SAML_METADATA_XML: metadataFile,
      SAML_SP_KEY: given.privateKey,
      SAML_SP_CERT: given.certificate,
      SAML_DOMAINS: 'First.example,shared.example',
      SAML_GROUP_CLAIM: 'memberOf',
      SAML_AUTO_PROVISION: 'ON',
      ORGANISATION_DOMAINS: 'second=second.example,second=shared.example',
    },
  )
  const { rows } = await control.sql.query<{ id: string }>('SELECT id FROM organisations ORDER BY created_at LIMIT 1')
  const made = await control.createTenant('second')
  second = made
  const organisationId = rows[0]?.id ?? ''
  const scopes = ['organisation_settings.read', 'organisation_settings.update']
  first = { ...made, organisationId, adminKey: await control.createKey({ ...made, organisationId }, { scopes }) }
})
test.after.always(async () => {
  await control?.close()
  rmSync(folder, { recursive: true, force: true })
})

const slugOf = async ({ organisationId }: Pick<Tenant, 'organisationId'>): Promise<string> => {
  const { rows } = await control.sql.query<{ slug: string }>('SELECT slug FROM organisations WHERE id = $1', [organisationId])
  return rows[0]?.slug ?? ''
}

interface View {
  readonly type: string | null
  readonly issuer: string
  readonly client_id: string
  readonly redirect_uri: string
  readonly login_url: string
  readonly saml: {
    readonly entity_id: string
    readonly acs_url: string
    readonly metadata_url: string
    readonly sso_url: string | null
    readonly certificates: readonly { readonly sha256: string; readonly valid_until: string }[]
    readonly sp_certificate: string | null
  }
}

const settings = (more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'saml',
  metadata_xml: crafted.metadata(),
  domains: ['second.example', 'shared.example', 'elsewhere.example'],
  auto_provision: true,
  ...more,
})

async function put(body: unknown): Promise<View> {
  const answer = await control.call(second.adminKey, 'PUT', path, body)
  if (answer.status !== 200) throw new Error(answer.text)
  return JSON.parse(answer.text) as View
}

async function signInBy(idp: RealIdp, tenant: Tenant, who: SamlPerson, query = ''): Promise<{ answer: RawAnswer; browser: SamlBrowser }> {
  const slug = await slugOf(tenant)
  const browser = openSamlBrowser(control.origin)
  const url = await browser.leave(`/auth/saml/${slug}/login${query}`)
  const { text: metadata } = await browser.get(`/auth/saml/${slug}/metadata`)
  const SAMLResponse = await idp.answer(url, metadata, who)
  return { answer: await browser.post(`/auth/saml/${slug}/acs`, { SAMLResponse }), browser }
}

const acs = '/auth/saml/second/acs'

interface Coming {
  readonly answer: RawAnswer
  readonly browser: SamlBrowser
}

/** Signs in at the second organisation by the provider whose every byte can be chosen. */
async function come(more: Partial<Crafting> = {}, form: Readonly<Record<string, string>> = {}, query = ''): Promise<Coming> {
  const browser = openSamlBrowser(control.origin)
  const { id } = requestIn(await browser.leave(`/auth/saml/second/login${query}`))
  const base = { idp: crafted, acsUrl: `${publicUrl}${acs}`, entityId: `${publicUrl}/auth/saml/second/metadata`, inResponseTo: id }
  return { answer: await browser.post(acs, { ...form, SAMLResponse: await craft({ ...base, ...more }) }), browser }
}

const person = (name: string, more: Readonly<Record<string, readonly string[]>> = {}): Pick<Crafting, 'nameId' | 'attributes'> => ({
  nameId: name,
  attributes: { email: [`${name}@second.example`], ...more },
})

const roleIn = async (email: string, workspaceId: string): Promise<string | null> => {
  const { rows } = await control.sql.query<{ role: string }>(
    'SELECT m.role FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE u.email = $1 AND m.workspace_id = $2',
    [email, workspaceId],
  )
  return rows[0]?.role ?? null
}

function isIn(t: ExecutionContext, { answer, browser }: Coming, to = '/console'): void {
  t.is(answer.status, 303, answer.text)
  t.is(answer.headers.location, to)
  t.true(browser.cookies.has('__Host-gatehouse'))
}

function isRefused(t: ExecutionContext, { answer, browser }: Coming, [status, message]: readonly [number, RegExp]): void {
  t.is(answer.status, status, answer.text)
  t.regex(errorOf(answer).message, message)
  t.false(browser.cookies.has('__Host-gatehouse'))
}

test.serial('the provider of the settings reads our signed request and our metadata, and its people come in', async (t) => {
  const ada = { nameId: 'p-1', attributes: { mail: ['Ada@First.example'], givenName: ['Ada'], sn: ['Lovelace'], memberOf: ['x'] } }
  const { answer, browser } = await signInBy(ofSettings, first, ada, '?return_to=/console/logs%3Fpage%3D2%23top')
  isIn(t, { answer, browser }, '/console/logs?page=2#top')
  t.deepEqual([...browser.cookies.keys()].toSorted(), ['__Host-gatehouse', '__Host-gatehouse-device'])
  const cookie = answer.headers['set-cookie']?.find((text) => text.startsWith('__Host-gatehouse='))
  t.regex(cookie ?? '', /; HttpOnly; SameSite=Strict; Secure$/)
  const { rows } = await control.sql.query(
    `SELECT s.method, s.issuer, s.subject, u.email, u.first_name, u.last_name, u.role FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE u.email = 'ada@first.example'`,
  )
  t.deepEqual(rows, [
    {
      method: 'saml',
      issuer: 'https://samlify.example',
      subject: 'p-1',
      email: 'ada@first.example',
      first_name: 'Ada',
      last_name: 'Lovelace',
      role: 'member',
    },
  ])
  t.true((await browser.get('/auth/me')).text.includes('ada@first.example'))
})

test.serial('the cookie of the way comes along with a form of another site, and is forgotten after it', async (t) => {
  const browser = openSamlBrowser(control.origin)
  const { headers } = await browser.get(`/auth/saml/${await slugOf(first)}/login`)
  t.regex(
    headers['set-cookie']?.[0] ?? '',
    /^__Host-gatehouse-saml-[0-9a-f]{16}=.*; Path=\/; Max-Age=600; HttpOnly; SameSite=None; Secure$/,
  )
  const url = new URL(headers.location ?? '')
  t.is(url.origin, 'https://samlify.example')
  t.false(url.searchParams.has('RelayState'))
  t.is(url.searchParams.get('SigAlg'), 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256')
})

test.serial('libraries of others, with assertions in the clear and encrypted', async (t) => {
  const cases = [
    await samlifyIdp('https://one.example', { signedRequests: false, encrypts: false }),
    await samlifyIdp('https://two.example', { signedRequests: true, encrypts: true }),
    await samlpIdp('https://three.example'),
    await samlpIdp('https://four.example', { signResponse: true }),
    await samlpIdp('https://five.example', { encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm' }),
    await samlpIdp('https://six.example', {
      encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
      disallowEncryptionWithInsecureAlgorithm: false,
    }),
  ]
  for (const [at, idp] of cases.entries()) {
    await put(settings({ metadata_xml: idp.metadata }))
    const email = `lib-${at}@second.example`
    const told = { nameId: `lib ${at}`, attributes: { email: [email], givenName: ['Ada'], sn: ['King'] } }
    const coming = await signInBy(idp, second, told)
    isIn(t, coming)
    const { rows } = await control.sql.query('SELECT first_name, last_name FROM users WHERE email = $1', [email])
    t.deepEqual(rows, [{ first_name: 'Ada', last_name: 'King' }], idp.entityId)
  }
})

test.serial('both protocols serve organisations of one installation, and say which', async (t) => {
  await put(settings({ name: 'The company' }))
  const { text } = await openSamlBrowser(control.origin).get('/auth/login?organisation=second')
  t.deepEqual((JSON.parse(text) as { provider: unknown }).provider, {
    type: 'saml',
    name: 'The company',
    login_path: '/auth/saml/second/login',
  })
  const byEmail = await openSamlBrowser(control.origin).get('/auth/login?email=ada@second.example')
  t.true(byEmail.text.includes('/auth/saml/second/login'))
  t.is((await openSamlBrowser(control.origin).get('/auth/oidc/second/login')).status, 404)
  const third = await control.createTenant('third')
  const oidc = { type: 'oidc', issuer: 'https://login.invalid/oidc', client_id: 'x', client_secret: 'y' }
  t.is((await control.call(third.adminKey, 'PUT', path, oidc)).status, 200)
  t.true((await openSamlBrowser(control.origin).get('/auth/login?organisation=third')).text.includes('/auth/oidc/third/login'))
  for (const end of ['login', 'metadata']) t.is((await openSamlBrowser(control.origin).get(`/auth/saml/third/${end}`)).status, 404)
  // The same organisation may change its mind; its key is made anew, and the values of OpenID Connect are gone.
  t.is((await control.call(third.adminKey, 'PUT', path, settings({ domains: [] }))).status, 200)
  t.true((await openSamlBrowser(control.origin).get('/auth/login?organisation=third')).text.includes('/auth/saml/third/login'))
  const back = await control.call(third.adminKey, 'PUT', path, { ...oidc, client_secret: undefined })
  t.is(back.status, 400)
})

test.serial('what the provider needs is there before it is set, and its metadata has it then', async (t) => {
  const fourth = await control.createTenant('fourth')
  const before = JSON.parse((await control.call(fourth.adminKey, 'GET', path)).text) as View
  t.is(before.type, null)
  t.is(before.saml.entity_id, `${publicUrl}/auth/saml/fourth/metadata`)
  t.is(before.saml.acs_url, `${publicUrl}/auth/saml/fourth/acs`)
  const view = await put(settings({ sign_requests: true }))
  t.is(view.type, 'saml')
  t.is(view.issuer, crafted.entityId)
  t.is(view.client_id, `${publicUrl}/auth/saml/second/metadata`)
  t.is(view.redirect_uri, view.saml.acs_url)
  t.is(view.login_url, `${publicUrl}/auth/saml/second/login`)
  t.is(view.saml.sso_url, `${crafted.entityId}/sso?tenant=1`)
  t.is(view.saml.certificates[0]?.sha256, new X509Certificate(crafted.keys.certificate).fingerprint256)
  const { text, headers } = await openSamlBrowser(control.origin).get('/auth/saml/second/metadata')
  t.is(headers['content-type'], 'application/samlmetadata+xml; charset=utf-8')
  const bare = (view.saml.sp_certificate ?? '').replaceAll(/-----[A-Z ]+-----|\s/g, '')
  t.is(text.replaceAll(/\s/g, '').split(bare).length, 3, 'to sign and to encrypt')
  t.regex(text, /AuthnRequestsSigned="true"[\s\S]*WantAssertionsSigned="true"/)
  t.regex(text, new RegExp(`Location="${view.saml.acs_url}"`))
  // The provider's own URL keeps its query.
  const url = await openSamlBrowser(control.origin).leave('/auth/saml/second/login')
  t.is(url.searchParams.get('tenant'), '1')
  t.true(url.searchParams.has('Signature'))
  await put(settings({ sign_requests: false }))
  t.false((await openSamlBrowser(control.origin).leave('/auth/saml/second/login')).searchParams.has('Signature'))
})

test.serial('the key of Gatehouse stays, is renewed, or is given; nobody sees it', async (t) => {
  const one = (await put(settings())).saml.sp_certificate
  t.is((await put(settings({ name: 'Other' }))).saml.sp_certificate, one)
  const two = (await put(settings({ renew_sp_key: true }))).saml.sp_certificate
  t.not(two, one)
  const pair = await makeKeyPair(Date.now())
  const given = { sp_private_key: pair.privateKey, sp_certificate: pair.certificate }
  t.is((await put(settings(given))).saml.sp_certificate, pair.certificate)
  const read = await control.call(second.adminKey, 'GET', path)
  const dump = await control.dump()
  for (const text of [read.text, dump]) t.false(text.includes('PRIVATE KEY'))
  isIn(t, await come({ ...person('keyed'), encryptFor: pair.certificate }))
  // The one before no longer reads anything.
  isRefused(t, await come({ ...person('keyed'), encryptFor: one ?? '' }), [401, /cannot be read/])
})

test.serial('answers of a provider are in no row of the trail', async (t) => {
  await put(settings())
  const { answer } = await come(person('traceless'))
  t.is(answer.status, 303)
  const { rows } = await control.sql.query<{ text: string; action: string }>(
    'SELECT a::text AS text, action FROM audit_logs a WHERE organisation_id = $1 ORDER BY seq DESC LIMIT 1',
    [second.organisationId],
  )
  t.is(rows[0]?.action, 'sign-in')
  t.true(rows[0]?.text.includes('hmac:'))
  t.true((rows[0]?.text.length ?? 0) < 3000)
})

test.serial('from then on NameID finds the person, whatever their address is; an address of others finds nobody', async (t) => {
  await put(settings())
  isIn(t, await come(person('bea')))
  isIn(t, await come({ nameId: 'bea', attributes: { email: ['bea@married.example'] } }))
  isIn(t, await come({ nameId: 'bea' }))
  const { rows } = await control.sql.query("SELECT 1 FROM users WHERE email LIKE 'bea@%'")
  t.is(rows.length, 1)
  isRefused(t, await come({ nameId: 'bea-2', attributes: { email: ['bea@second.example'] } }), [403, /another identity/])
  isRefused(t, await come({ nameId: 'n1', attributes: { email: ['n1@elsewhere.example'] } }), [403, /does not own/])
  isRefused(t, await come({ nameId: 'n2' }), [403, /verified/])
  isRefused(t, await come({ nameId: 'n3', attributes: { email: ['n3@second.example'], email_verified: ['false'] } }), [403, /verified/])
})

test.serial('only who may come uninvited comes, and who was removed stays away', async (t) => {
  await put(settings())
  isIn(t, await come(person('cyd')))
  await control.sql.query("UPDATE users SET status = 'archived' WHERE email = 'cyd@second.example'")
  isRefused(t, await come(person('cyd')), [403, /no account/])
  await put(settings({ auto_provision: false }))
  isRefused(t, await come(person('dan')), [403, /no account/])
  await put(settings({ enabled: false }))
  t.is((await openSamlBrowser(control.origin).get('/auth/saml/second/login')).status, 404)
})

test.serial('groups give places and roles, by their names or by mappings, and take them away', async (t) => {
  const claim = 'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups'
  const role_mappings = [{ group: 'Engineers', workspace_id: second.sideId, role: 'manager' }]
  await put(settings({ group_claim: claim, role_mappings }))
  const { rows } = await control.sql.query<{ slug: string }>('SELECT slug FROM workspaces WHERE id = $1', [second.workspaceId])
  const named = `ws-${rows[0]?.slug}-role-admin`
  const email = 'eli@second.example'
  isIn(t, await come(person('eli', { [claim]: [named, 'engineers', 'others'] })))
  t.is(await roleIn(email, second.workspaceId), 'admin')
  t.is(await roleIn(email, second.sideId), 'manager')
  // Entra leaves groups out when they are too many: they are unknown then.
  isIn(t, await come(person('eli', { 'http://schemas.microsoft.com/claims/groups.link': ['https://graph.example'] })))
  t.is(await roleIn(email, second.sideId), 'manager')
  isIn(t, await come(person('eli', { [claim]: ['engineers'] })))
  t.is(await roleIn(email, second.workspaceId), null)
  t.is(await roleIn(email, second.sideId), 'manager')
})

test.serial('attributes of another name say who somebody is', async (t) => {
  await put(settings({ subject_claim: 'oid', email_claim: 'upn' }))
  const attributes = { oid: ['o-1'], upn: ['fay@second.example'], email: ['mailbox@elsewhere.example'] }
  isIn(t, await come({ nameId: 'changes', nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient', attributes }))
  const { rows } = await control.sql.query(
    "SELECT i.subject FROM user_identities i JOIN users u ON u.id = i.user_id WHERE u.email = 'fay@second.example'",
  )
  t.deepEqual(rows, [{ subject: 'o-1' }])
  isRefused(t, await come({ attributes: { upn: ['fay@second.example'] } }), [403, /oid is missing/])
  isRefused(t, await come({ attributes: { upn: ['fay@second.example'], oid: ['o-1', 'o-2'] } }), [403, /several values/])
  // A NameID that is an address serves as one where no attribute has it.
  await put(settings())
  const address = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
  isIn(t, await come({ nameId: 'gus@second.example', nameIdFormat: address }))
})

test.serial('the session ends when the provider says so', async (t) => {
  await put(settings())
  const { answer } = await come({ ...person('hal'), sessionUntil: 900 })
  t.is(answer.status, 303)
  const { rows } = await control.sql.query<{ seconds: number; provider_session: string }>(
    `SELECT extract(epoch FROM s.expires_at - now())::int AS seconds, provider_session FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE u.email = 'hal@second.example'`,
  )
  t.true((rows[0]?.seconds ?? 0) > 880 && (rows[0]?.seconds ?? 0) <= 900)
  t.is(rows[0]?.provider_session, 's-1')
})

test.serial('a provider changes its key: both count while both are in the metadata', async (t) => {
  const next = await makeIdp(crafted.entityId)
  const both = [crafted.keys.certificate, next.keys.certificate]
  await put(settings({ metadata_xml: crafted.metadata(both) }))
  isIn(t, await come(person('ida')))
  isIn(t, await come({ ...person('ida'), key: next.keys.privateKey }))
  await put(settings({ metadata_xml: next.metadata() }))
  isRefused(t, await come(person('ida')), [401, /Invalid signature/])
  isIn(t, await come({ ...person('ida'), key: next.keys.privateKey }))
})

test.serial('people begin at the provider only where that is set, once with each answer, and go on only here', async (t) => {
  const base = { idp: crafted, acsUrl: `${publicUrl}${acs}`, entityId: `${publicUrl}/auth/saml/second/metadata`, inResponseTo: null }
  const began = async (RelayState: string, SAMLResponse?: string): Promise<Coming> => {
    const browser = openSamlBrowser(control.origin)
    return {
      browser,
      answer: await browser.post(acs, { RelayState, SAMLResponse: SAMLResponse ?? (await craft({ ...base, ...person('jan') })) }),
    }
  }
  await put(settings())
  isRefused(t, await began(''), [401, /begin here/])
  await put(settings({ allow_idp_initiated: true }))
  isIn(t, await began('/console/logs'), '/console/logs')
  for (const place of ['', 'https://evil.example/', '//evil.example', '/\\evil.example', 'console', 'javascript:alert(1)'])
    isIn(t, await began(place), '/console')
  const once = await craft({ ...base, ...person('jan') })
  isIn(t, await began('/console', once))
  isRefused(t, await began('/console', once), [401, /has been used/])
  // An answer to a request has to be to one of this browser, also then.
  const answered = await craft({ ...base, ...person('jan'), inResponseTo: `_${'a'.repeat(64)}` })
  isRefused(t, await began('/console', answered), [401, /did not begin in this browser/])
})

test.serial('return_to leads nowhere else', async (t) => {
  await put(settings())
  for (const place of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example'])
    t.is((await openSamlBrowser(control.origin).get(`/auth/saml/second/login?return_to=${encodeURIComponent(place)}`)).status, 400, place)
  // RelayState of an answer that was asked for is not looked at.
  isIn(t, await come(person('kay'), { RelayState: 'https://evil.example/' }, '?return_to=/console/keys'), '/console/keys')
})

test.serial('an answer that is no form is told what it has to be', async (t) => {
  const answer = await send(`${control.origin}${acs}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'SAMLResponse=a',
  })
  t.is(answer.status, 415, answer.text)
  t.regex(errorOf(answer).message, /must be application\/x-www-form-urlencoded, not text\/plain/)
})

test.serial('fields with the names of what every object has are nothing in a form, and refused in JSON', async (t) => {
  const named: Readonly<Record<string, string>> = JSON.parse('{"__proto__":"x","constructor":"y","hasOwnProperty":"z"}')
  await put(settings())
  isIn(t, await come(person('named'), named))
  for (const key of ['__proto__', 'constructor']) {
    const refused = await send(`${control.origin}${acs}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"SAMLResponse":"a","${key}":{"SAMLResponse":"b"}}`,
    })
    t.is(refused.status, 400, refused.text)
    t.is(errorOf(refused).param, key)
  }
})

test.serial('metadata that cannot be used is refused in words', async (t) => {
  const good = crafted.metadata()
  const cases: readonly (readonly [string, RegExp])[] = [
    ['<a', /not well-formed/],
    [`<!DOCTYPE a>${good.replace(/<\?xml.*?\?>/, '')}`, /document type/],
    ['<a/>', /no metadata of an identity provider/],
    [good.replaceAll('HTTP-Redirect', 'SOAP'), /HTTP-Redirect/],
    [crafted.metadata([]), /no certificate/],
    [good.replace(/<ds:X509Certificate>.{20}/, '<ds:X509Certificate>'), /cannot be read/],
    [good.replace('https://idp.example/sso', 'javascript:alert(1)//'), /no http or https URL/],
    [good.replace(/entityID="[^"]*"/, ''), /entityID/],
  ]
  for (const [metadata_xml, message] of cases) {
    const answer = await control.call(second.adminKey, 'PUT', path, settings({ metadata_xml }))
    t.is(answer.status, 400, answer.text)
    t.regex(answer.text, message)
    t.regex(answer.text, /"param":"metadata_xml"/)
    t.notRegex(errorOf(answer).message, /\.\./)
  }
  const half = await control.call(second.adminKey, 'PUT', path, settings({ sp_certificate: crafted.keys.certificate }))
  t.regex(half.text, /come together/)
  const other = { sp_certificate: crafted.keys.certificate, sp_private_key: (await makeKeyPair(Date.now())).privateKey }
  t.is((await control.call(second.adminKey, 'PUT', path, settings(other))).status, 400)
})

const tested = async () =>
  JSON.parse((await control.call(second.adminKey, 'POST', `${path}/test`)).text) as {
    ok: boolean
    steps: { step: string; detail: string }[]
  }

test.serial('a test tells what is known of the provider', async (t) => {
  await put(settings())
  const { ok, steps } = await tested()
  t.true(ok)
  t.deepEqual(
    steps.map(({ step }) => step),
    ['metadata', 'certificates', 'own_key'],
  )
  t.regex(steps[0]?.detail ?? '', /https:\/\/idp.example\/sso.*HTTP-Redirect.*HTTP-POST/)
  t.regex(steps[1]?.detail ?? '', /until \d{4}-\d\d-\d\d/)
  t.regex(steps[2]?.detail ?? '', /not signed/)
  const old = await makeKeyPair(Date.now() - 11 * 365 * 24 * 3_600_000)
  await put(settings({ metadata_xml: crafted.metadata([old.certificate]) }))
  const after = await tested()
  t.false(after.ok)
  t.regex(after.steps[1]?.detail ?? '', /None is valid any longer/)
})

test.serial(
  'a test sign-in shows what an assertion says and would give, also while the provider is off, and opens no session',
  async (t) => {
    await put(
      settings({
        enabled: false,
        group_claim: 'memberOf',
        role_mappings: [{ group: 'Crew', workspace_id: second.workspaceId, role: 'admin' }],
      }),
    )
    const begin = async () => {
      const { body } = await control.call(second.adminKey, 'POST', `${path}/test-sign-ins`)
      return new URL((body as { url: string }).url).search
    }
    const { answer, browser } = await come(person('tess', { memberOf: ['Crew', 'Choir'], badge: ['7'] }), {}, await begin())
    t.is(answer.status, 200, answer.text)
    const { outcome } = (JSON.parse(answer.text) as { test_sign_in: { outcome: Readonly<Record<string, unknown>> } }).test_sign_in
    t.like(outcome, { ok: true, person: 'new', email: 'tess@second.example', subject: 'tess', groups: ['Crew', 'Choir'] })
    t.like(outcome['claims'], { badge: '7', memberOf: ['Crew', 'Choir'] })
    t.like((outcome['workspaces'] as readonly object[])[0], { workspace_id: second.workspaceId, role: 'admin', by_group: true })
    t.false(browser.cookies.has('__Host-gatehouse'))
    t.is(await roleIn('tess@second.example', second.workspaceId), null)
    const nobody = await come({ ...person('tess'), nameId: '' }, {}, await begin())
    t.true(nobody.answer.status === 200 || nobody.answer.status === 401, nobody.answer.text)
    t.false(nobody.browser.cookies.has('__Host-gatehouse'))
    const off = openSamlBrowser(control.origin)
    t.is((await off.get('/auth/saml/second/login')).status, 404)
  },
)
