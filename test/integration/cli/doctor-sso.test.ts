import { generateKeyPairSync, randomUUID } from 'node:crypto'
import test from 'ava'
import { gatehouseHere } from '../../support/cli.ts'
import { startCertified, type CertifiedProvider } from '../../support/oidc/certified.ts'
import { startFaultyIssuer, type Fault, type FaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { environment } from '../../support/process.ts'
import { makeIdp } from '../../support/saml/crafted.ts'
import { makeKeyPair } from '../../../src/features/identity-providers/saml/key-pair.ts'
import { startControl, type Control, type Tenant } from '../features/setup.ts'

interface Trouble {
  readonly id: string
  readonly severity: string
  readonly what: string
  readonly fix: string
}

interface Report {
  readonly ok: boolean
  readonly organisations: readonly { readonly organisation: string; readonly provider: unknown; readonly troubles: readonly Trouble[] }[]
}

const publicUrl = 'https://gateway.example'
const redirectUri = `${publicUrl}/auth/oidc/certified/callback`
const secret = 'a-client-secret-that-nobody-may-see'
const encryptionKey = Buffer.alloc(32, 3).toString('base64')

let control: Control
let certified: CertifiedProvider
const issuers: FaultyIssuer[] = []

interface Case {
  readonly fault?: Fault
  /** The wrong settings, in place of working ones. */
  readonly set?: Readonly<Record<string, unknown>>
  /** The provider: a scripted one, or the certified one. */
  readonly at?: 'certified'
  /** A SAML provider instead: when its certificate was made, in days before now, and the attributes of its role. */
  readonly saml?: { readonly age: number; readonly attributes?: string }
  readonly expected: readonly (readonly [severity: string, id: string, seen: RegExp])[]
}

/** Certificates that Gatehouse makes live for ten years. */
const certificateDays = 3653

const hidden = { issuer: 'http://169.254.169.254', expected: /169\.254\.169\.254/ }

/** One organisation each. */
const cases: Readonly<Record<string, Case>> = {
  well: { expected: [] },
  certified: { at: 'certified', set: { client_id: 'known' }, expected: [] },
  'other-issuer': {
    fault: { discovery: { issuer: 'https://login.example/common' } },
    expected: [['error', 'sso-issuer-differs', /names https:\/\/login\.example\/common/]],
  },
  'no-document': { fault: { description: { status: 404, body: '{}' } }, expected: [['error', 'sso-discovery', /answered 404/]] },
  'no-json': { fault: { description: { status: 200, body: '<html>' } }, expected: [['error', 'sso-discovery', /no discovery document/]] },
  'no-token-endpoint': { fault: { discovery: { token_endpoint: undefined } }, expected: [['error', 'sso-endpoints', /no token_endpoint/]] },
  'no-keys': { fault: { discovery: { jwks_uri: 'http://127.0.0.1:6553/keys' } }, expected: [['error', 'sso-keys', /127\.0\.0\.1:6553/]] },
  'other-methods': {
    fault: { discovery: { token_endpoint_auth_methods_supported: ['private_key_jwt'], scopes_supported: ['openid'] } },
    set: { scopes: ['openid', 'groups'] },
    expected: [
      ['error', 'sso-client-method', /client_secret_basic is set, and the provider takes private_key_jwt/],
      ['warning', 'sso-scopes', /groups/],
    ],
  },
  'no-pkce': { fault: { discovery: { code_challenge_methods_supported: ['plain'] } }, expected: [['warning', 'sso-pkce', /plain/]] },
  'wrong-secret': {
    fault: { token: { status: 401, body: '{"error":"invalid_client"}' } },
    expected: [['error', 'sso-client-refused', /invalid_client/]],
  },
  'gives-all': {
    fault: { token: { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' } },
    expected: [['error', 'sso-client-refused', /a made-up code/]],
  },
  unknown: {
    at: 'certified',
    set: { client_id: 'nobody' },
    expected: [
      ['error', 'sso-redirect-refused', /answered 400 to client nobody/],
      ['error', 'sso-client-refused', /invalid_client/],
    ],
  },
  'other-redirect': {
    at: 'certified',
    set: { client_id: 'elsewhere' },
    expected: [['error', 'sso-redirect-refused', /gateway\.example\/auth\/oidc\/other-redirect\/callback/]],
  },
  late: { fault: { late: 300 }, expected: [['error', 'sso-clock', /30\d seconds/]] },
  'a-little-late': { fault: { late: 30 }, expected: [['warning', 'sso-clock', /3\d seconds/]] },
  homeless: {
    set: { domains: ['elsewhere.example'] },
    expected: [
      ['warning', 'sso-no-domain', /none of those/],
      ['warning', 'sso-domain-not-owned', /elsewhere\.example/],
    ],
  },
  mapped: {
    set: { role_mappings: [{ group: 'Engineers', workspace_id: 'side', role: 'member' }] },
    expected: [
      ['warning', 'sso-mapping-idle', /1 mappings/],
      ['warning', 'sso-mapping-gone', /Engineers/],
    ],
  },
  off: { set: { enabled: false }, expected: [['warning', 'sso-off', /not enabled/]] },
  away: { set: { issuer: 'http://127.0.0.1:6553' }, expected: [['error', 'sso-unreachable', /127\.0\.0\.1:6553/]] },
  // Stored as before organisations had callbacks of their own.
  metadata: {
    set: { issuer: hidden.issuer },
    expected: [
      ['error', 'sso-unreachable', hidden.expected],
      ['error', 'sso-shared-callback', /people of metadata .*\/auth\/oidc\/callback/],
    ],
  },
  'by-hand': { expected: [] },
  'saml-well': { saml: { age: 1 }, expected: [] },
  'saml-ended': { saml: { age: certificateDays + 1 }, expected: [['error', 'sso-saml-certificate', /the last of 1 ended on 20/]] },
  'saml-ending': { saml: { age: certificateDays - 10 }, expected: [['warning', 'sso-saml-certificate', /ends on 20/]] },
}

const domainOf = (name: string): string => `${name}.example`

async function setUpSaml(name: string, { age, attributes = '' }: { readonly age: number; readonly attributes?: string }): Promise<void> {
  const tenant = await control.createTenant(name)
  const idp = await makeIdp(`https://${name}.example/idp`)
  const { certificate } = await makeKeyPair(Date.now() - age * 24 * 60 * 60 * 1000)
  const body = { type: 'saml', metadata_xml: idp.metadata([certificate], attributes), domains: [domainOf(name)] }
  const { status, text } = await control.call(tenant.adminKey, 'PUT', '/admin/organisation/sso', body)
  if (status !== 200) throw new Error(`${name}: ${text}`)
}

async function setUp(name: string, { fault = {}, set = {}, at, saml }: Case): Promise<void> {
  if (saml !== undefined) return setUpSaml(name, saml)
  const tenant = await control.createTenant(name)
  const issuer = await issuerOf(fault)
  const body = {
    type: 'oidc',
    issuer: at === 'certified' ? certified.issuer : issuer,
    client_id: 'known',
    client_secret: secret,
    domains: [domainOf(name)],
    ...(name === 'by-hand' && {
      issuer: `${issuer}/without-discovery`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: await keysOf(issuer),
    }),
    ...set,
  }
  if (name === 'metadata') return store(tenant, body)
  const { status, text } = await control.call(tenant.adminKey, 'PUT', '/admin/organisation/sso', body)
  if (status !== 200) throw new Error(`${name}: ${text}`)
  if (name === 'mapped') await control.sql.query("UPDATE workspaces SET status = 'archived' WHERE id = $1", [tenant.sideId])
}

async function issuerOf(fault: Fault): Promise<string> {
  const made = await startFaultyIssuer()
  made.fault = fault
  issuers.push(made)
  return made.issuer
}

async function keysOf(issuer: string): Promise<string> {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`)
  return ((await answer.json()) as { jwks_uri: string }).jwks_uri
}

/** Settings that the API would refuse, and an operator may have had before a rule was there. */
async function store({ organisationId }: Tenant, body: { readonly issuer: string; readonly domains: readonly string[] }): Promise<void> {
  await control.sql.query(
    `INSERT INTO identity_providers (id, organisation_id, type, name, enabled, issuer, client_id, settings)
     VALUES ($1, $2, 'oidc', 'Hidden', true, $3, 'known', $4)`,
    [
      randomUUID(),
      organisationId,
      body.issuer,
      JSON.stringify({
        scopes: [],
        token_endpoint_auth_method: 'none',
        authorization_endpoint: null,
        token_endpoint: null,
        jwks_uri: null,
        userinfo_endpoint: null,
        domains: body.domains,
        auto_provision: false,
        group_claim: null,
        email_verified_claim: 'email_verified',
        role_mappings: [],
      }),
    ],
  )
}

const more = {
  PUBLIC_URL: publicUrl,
  ENCRYPTION_KEY: encryptionKey,
  ORGANISATION_DOMAINS: Object.keys(cases)
    .map((name) => `${name}=${domainOf(name)}`)
    .join(','),
}

test.before(async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const keys = [{ ...rsa, kid: 'sig-1', use: 'sig', alg: 'RS256' }]
  const client = { client_secret: secret, redirect_uris: [redirectUri] }
  certified = await startCertified(
    [
      { ...client, client_id: 'known' },
      { ...client, client_id: 'elsewhere', redirect_uris: ['https://elsewhere.example/callback'] },
    ],
    { keys },
  )
  control = await startControl({}, more)
  for (const [name, one] of Object.entries(cases)) await setUp(name, one)
})
test.after.always(async () => {
  await control?.close()
  certified?.close()
  for (const issuer of issuers) issuer.close()
})

async function doctor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const own = { ...environment(control.started.deps.config.database), ...more, ...env }
  return gatehouseHere(['doctor', 'sso', ...args], { env: own })
}

let report: Report

test.serial('each organisation has its findings, and one that is well has none', async (t) => {
  const { status, stdout, stderr } = await doctor(['--json'])
  t.is(status, 1, stderr)
  report = JSON.parse(stdout) as Report
  t.false(report.ok)
  t.false(`${stdout}${stderr}`.includes(secret))
})

for (const [name, { expected }] of Object.entries(cases))
  test.serial(`${name}: ${expected.length === 0 ? 'nothing is wrong' : expected.map(([, id]) => id).join(', ')}`, (t) => {
    const found = report.organisations.find(({ organisation }) => organisation === name)
    t.deepEqual(
      found?.troubles.map(({ severity, id }) => `${severity} ${id}`),
      expected.map(([severity, id]) => `${severity} ${id}`),
      JSON.stringify(found?.troubles, null, 1),
    )
    for (const [at, [, , seen]] of expected.entries()) t.regex(found?.troubles[at]?.what ?? '', seen)
  })

test.serial('one organisation is examined alone, and the exit code tells of it alone', async (t) => {
  const well = await doctor(['--organisation', 'well'])
  t.is(well.status, 0, well.stderr)
  t.regex(well.stdout, /^well: 127\.0\.0\.1:\d+ \(oidc, http:\/\/127\.0\.0\.1:\d+\)\nNothing is wrong\.\n$/)
  const late = await doctor(['--organisation', 'a-little-late'])
  t.is(late.status, 0)
  t.regex(late.stdout, /CAREFUL {2}sso-clock\n.*clocks/)
  t.is((await doctor(['--organisation', 'a-little-late', '--strict'])).status, 1)
  const nobody = await doctor(['--organisation', 'nobody'])
  t.is(nobody.status, 1)
  t.regex(nobody.stderr, /no organisation nobody/)
})

test.serial('where people sign in by their provider alone, an organisation without one is wrong', async (t) => {
  const { stdout } = await doctor(['--json'], { AUTH_MODE: 'SSO' })
  const { organisations } = JSON.parse(stdout) as Report
  const idsOf = (name: string) =>
    organisations.find(({ organisation }) => organisation === name)?.troubles.map(({ id, severity }) => `${severity} ${id}`)
  t.deepEqual(idsOf(organisations[0]?.organisation ?? ''), ['error sso-missing'])
  t.deepEqual(idsOf('off'), ['error sso-off'])
})

/** The findings of a healthy organisation, with other settings. */
const troubles = async (env: Record<string, string>) => {
  const { stdout } = await doctor(['--organisation', 'well', '--json'], env)
  return (JSON.parse(stdout) as Report).organisations[0]?.troubles.map(({ id, severity }) => `${severity} ${id}`)
}

test.serial('the address to which people are sent back is examined', async (t) => {
  t.deepEqual(await troubles({ PUBLIC_URL: 'http://gateway.example' }), ['warning sso-redirect-uri'])
  t.deepEqual(await troubles({ PUBLIC_URL: 'http://localhost:8787' }), ['warning sso-redirect-uri'])
})

test.serial('every finding is explained', async (t) => {
  const ids = new Set(Object.values(cases).flatMap(({ expected }) => expected.map(([, id]) => id)))
  for (const id of ids) {
    const { status, stdout } = await gatehouseHere(['doctor', '--explain', id])
    t.is(status, 0, id)
    t.regex(stdout, /-> ./)
  }
})
