import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type Issuer, startIssuer } from '../../support/issuer.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let issuer: Issuer
let acme: Tenant
let other: Tenant
let now = Date.now()

type Fields = Readonly<Record<string, unknown>>

test.before(async () => {
  ;[control, emulator, issuer] = await Promise.all([
    startControl({ clock: { now: () => now } }, { HEADER_ALIASES: 'acme', PUBLIC_URL: 'https://gatehouse.example' }),
    startEmulator(),
    startIssuer(),
  ])
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  for (const { adminKey } of [acme, other])
    ok(await control.call(adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'p' }))
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  issuer?.close()
})
test.beforeEach(async () => {
  emulator.reset()
  issuer.fault = null
  await trust()
})

function ok(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

const rules = (): Fields => ({ jwks_url: issuer.url, issuer: 'https://issuer.example', audience: 'gatehouse' })
const put = (jwt: unknown, { adminKey } = acme) => control.call(adminKey, 'PUT', '/admin/organisation', { settings: { jwt } })

async function trust(jwt: Fields | null = rules(), tenant = acme): Promise<void> {
  ok(await put(jwt, tenant))
  await control.refresh()
}

const seconds = () => Math.floor(now / 1000)
const claims = (more: Fields = {}): Fields => ({
  iss: 'https://issuer.example',
  aud: 'gatehouse',
  organisation_id: acme.organisationId,
  workspace_slug: 'main',
  sub: 'robot-1',
  scope: 'completions.write logs.list prompts.list workspaces.read',
  iat: seconds(),
  exp: seconds() + 3600,
  ...more,
})
const token = (more: Fields = {}, header: Fields = {}) => issuer.sign(claims(more), header)

const list = (secret: string, path = '/prompts') => control.call(secret, 'GET', path)
const errorOf = ({ body }: Answer) => body['error'] as { code: string; message: string; param: string | null }
async function chat(secret: string, header = 'x-service-api-key', more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { [header]: secret, 'x-service-provider': '@p', 'content-type': 'application/json', ...more },
    body: JSON.stringify({ model: 'm', messages: [] }),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> }
}

for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA'])
  test.serial(`a token signed with ${alg} serves on both planes, by URL and inline`, async (t) => {
    t.is(ok(await list(token({}, { alg }))).body['object'], 'list')
    t.is((await chat(token({}, { alg }))).status, 200)
    await trust({ jwks: issuer.jwks, audience: 'gatehouse' })
    t.is((await chat(`Bearer ${token({}, { alg })}`, 'authorization')).status, 200)
  })

interface Bad {
  readonly claims?: Fields
  readonly header?: Fields
  readonly status?: number
  readonly says: RegExp
}

const bad: Readonly<Record<string, () => Bad>> = {
  'no algorithm': () => ({ header: { alg: 'none' }, says: /algorithm is "none"/ }),
  'signed with the public key as a secret': () => ({
    header: { alg: 'HS256', kid: 'RS256' },
    says: /algorithm is "HS256"; allowed are RS256/,
  }),
  'a kid that the issuer does not have': () => ({ header: { kid: 'other' }, says: /no key for the kid "other"/ }),
  'a kid like a path': () => ({ header: { kid: '../../etc/passwd' }, says: /no key for the kid/ }),
  'no kid': () => ({ header: { kid: null }, says: /no kid/ }),
  'a kid of another algorithm': () => ({ header: { alg: 'RS256', kid: 'ES256' }, says: /no key for the kid/ }),
  'a typ of something else': () => ({ header: { typ: 'JOSE' }, says: /typ is "JOSE"/ }),
  'a critical extension': () => ({ header: { crit: ['x'], x: 1 }, says: /"x"/ }),
  expired: () => ({ claims: { exp: seconds() - 6 }, says: /expired: .*exp \d{4}-/ }),
  'without an end': () => ({ claims: { exp: undefined }, says: /claim exp is missing|exp/ }),
  'issued in the future': () => ({ claims: { iat: seconds() + 60 }, says: /issued in the future/ }),
  'good for more than a year': () => ({ claims: { exp: seconds() + 367 * 86_400 }, says: /more than 366 days/ }),
  'good for ever': () => ({ claims: { exp: 1e300 }, says: /more than 366 days/ }),
  'not valid yet': () => ({ claims: { nbf: seconds() + 60 }, says: /not valid yet: .*nbf \d{4}-/ }),
  'for another audience': () => ({ claims: { aud: ['somebody', 'else'] }, says: /claim aud is \["somebody","else"\]/ }),
  'for nobody': () => ({ claims: { aud: [] }, says: /claim aud is \[\]/ }),
  'of the issuer in other letters': () => ({ claims: { iss: 'https://Issuer.example' }, says: /claim iss is/ }),
  'of the issuer and another': () => ({ claims: { iss: ['https://issuer.example', 'x'] }, says: /claim iss is/ }),
  'with a payload that is not encoded': () => ({ header: { crit: ['b64'], b64: false }, says: /payload/i }),
  'without a typ': () => ({ header: { typ: undefined }, says: /typ is missing/ }),
  'that ends in text': () => ({ claims: { exp: String(seconds() + 60) }, says: /exp/ }),
  'that ends beyond all numbers': () => ({ claims: { exp: 8.64e15 }, says: /more than 366 days/ }),
  'of another issuer': () => ({ claims: { iss: 'https://evil.example' }, says: /claim iss is "https:\/\/evil.example"/ }),
  'of an organisation that takes no tokens': () => ({
    claims: { organisation_id: other.organisationId },
    status: 403,
    says: /takes no tokens.*settings\.jwt/,
  }),
  'of an organisation that is not there': () => ({
    claims: { organisation_id: '3f1a2b4c-0000-4000-8000-000000000000' },
    says: /organisation is not known/,
  }),
  'of an organisation by its slug': () => ({ claims: { organisation_id: 'acme' }, says: /organisation_id is missing, or is no UUID/ }),
  'without an organisation': () => ({ claims: { organisation_id: undefined }, says: /names no organisation/ }),
  'of a workspace that is not there': () => ({ claims: { workspace_slug: 'nowhere' }, says: /no workspace "nowhere"/ }),
  'of a workspace of another organisation': () => ({ claims: { workspace_slug: other.workspaceId }, says: /no workspace/ }),
  'without a workspace': () => ({ claims: { workspace_slug: undefined }, says: /workspace_slug is missing/ }),
  'with a NUL for a workspace': () => ({ claims: { workspace_slug: 'a\0b' }, says: /workspace_slug is missing/ }),
  'of nobody': () => ({ claims: { sub: undefined }, says: /none of the claims email_id, sub, uid/ }),
  'with scopes that are no texts': () => ({ claims: { scope: [1] }, says: /claim scope/ }),
  'with defaults of another form': () => ({ claims: { defaults: { metadata: [] } }, says: /claim defaults/ }),
  'with a rate limit of no unit': () => ({ claims: { rate_limits: [{ type: 'requests', value: 1 }] }, says: /claim rate_limits/ }),
  'with a budget below nothing': () => ({ claims: { usage_limits: { credit_limit: -1 } }, says: /claim usage_limits/ }),
  'with two budgets of one type': () => ({
    claims: { usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] },
    says: /claim usage_limits.*count the same/,
  }),
}

for (const [name, make] of Object.entries(bad))
  test.serial(`refused on both planes: a token ${name}`, async (t) => {
    const { claims: more, header, status = 401, says } = make()
    const secret = token(more, header)
    const [managed, called] = [await list(secret), await chat(secret)]
    t.deepEqual([managed.status, called.status], [status, status])
    t.is(errorOf(managed).code, status === 401 ? 'AB05' : 'AB03')
    t.regex(errorOf(managed).message, says)
    t.is(errorOf(called).message, errorOf(managed).message)
    t.is(emulator.requests.length, 0)
    t.false(managed.text.includes(secret))
  })

test.serial('keys that a token brings itself, or points to, are nobody’s', async (t) => {
  const own = { jwk: { kty: 'oct', k: 'AAAA' }, jku: `${emulator.url}/keys`, x5u: `${emulator.url}/certificate` }
  t.is((await list(token({}, own))).status, 200, 'they are not looked at')
  t.is((await list(token({}, { ...own, kid: 'other' }))).status, 401)
  t.is(emulator.requests.length, 0)
})

test.serial('what is no token, or was changed, is refused', async (t) => {
  const [head = '', , end = ''] = token().split('.')
  const forged = Buffer.from(JSON.stringify(claims({ workspace_slug: 'side' }))).toString('base64url')
  t.regex(errorOf(await list(`${head}.${forged}.${end}`)).message, /signature is wrong/)
  t.regex(errorOf(await list(`${head}.e30.${end}`)).message, /names no organisation/)
  t.regex(errorOf(await list(`${head}.${'A'.repeat(20)}.${end}`)).message, /no JSON Web Token/)
  t.regex(errorOf(await list(`eyJhbGciOiJSUzI1NiJ9.${'e'.repeat(14_000)}.x`)).message, /no JSON Web Token/)
})

/** The refusals of tokens in the trail, oldest first. */
const rows = async () =>
  (
    await control.sql.query<{ error: { code: string; message: string; not_written_before?: number }; actor_name: string; uri: string }>(
      `SELECT error, actor_name, uri FROM audit_logs WHERE organisation_id = $1 AND resource_type = 'token' ORDER BY seq`,
      [acme.organisationId],
    )
  ).rows

test.serial('the refusals are in the trail of the organisation that is named, and no flood of them', async (t) => {
  now += 10 * 60_000
  const before = (await rows()).length
  const refusals = [
    () => chat(token({ exp: seconds() - 100, sub: 'late@acme.example' })),
    () => list(token({ aud: 'else' })),
    () => list(token(), '/api-keys'),
  ]
  for (const [at, refuse] of refusals.entries()) {
    await refuse()
    await eventually(async () => (await rows()).length > before + at, 5000, 'the row')
  }
  const [expired, wrong, scope] = (await rows()).slice(before)
  t.like(expired, { actor_name: 'late@acme.example', uri: '/v1/chat/completions' })
  t.regex(expired?.error.message ?? '', /expired/)
  t.like(wrong, { uri: '/v1/prompts' })
  t.like(wrong?.error, { code: 'unauthorized' })
  t.regex(scope?.error.message ?? '', /lacks the scope/)
  await Promise.all(Array.from({ length: 60 }, () => list(token({ aud: 'else' }))))
  now += 60_000
  await list(token({ aud: 'else' }))
  await eventually(async () => (await rows()).some(({ error }) => (error.not_written_before ?? 0) > 0), 10_000, 'the count')
  t.true((await rows()).length <= before + 32)
})

test.serial('a token is never an admin key, and holds what calls models, reads and lists', async (t) => {
  const never = 'organisation_settings.read organisation_users.list audit_logs.list workspaces.create workspaces.delete prompts.create'
  const more = 'configs.update logs.export logs.view workspace_users.create workspace_service_api_keys.create'
  const held = 'prompts.list prompts.read workspaces.list completions.write service.configs.list acme.providers.list'
  const everything = [never, more, held].join(' ').split(' ')
  await control.createUser(acme, { email: 'boss@acme.example', role: 'owner' })
  await control.sql.query(`UPDATE organisations SET token_issuer_rank = 'owner' WHERE id = $1`, [acme.organisationId])
  await control.refresh()
  const boss = token({ scope: undefined, scopes: everything, email_id: 'Boss@acme.example', sub: 'boss-1' })
  for (const path of ['/admin/organisation', '/admin/users', '/api-keys']) {
    const answer = await list(boss, path)
    t.is(errorOf(answer).code, 'AB03', path)
    t.regex(errorOf(answer).message, /no token can hold|lacks the scope/, path)
  }
  t.is((await control.call(boss, 'POST', '/admin/workspaces', { name: 'mine' })).status, 403)
  t.is((await control.call(boss, 'POST', '/api-keys/workspace/service', { name: 'k', scopes: ['completions.write'] })).status, 403)
  for (const path of ['/prompts', '/configs', '/providers', '/workspaces']) t.is((await list(boss, path)).status, 200, path)
  const workspaces = ok(await list(boss, '/workspaces')).body['data'] as { id: string }[]
  t.deepEqual(
    workspaces.map(({ id }) => id),
    [acme.workspaceId],
  )
  t.is((await list(boss, `/prompts?workspace_id=${acme.sideId}`)).status, 403)
})

test.serial('the role and the settings of the holder bound its scopes, and leaving ends them', async (t) => {
  const email = 'mia@acme.example'
  const userId = await control.createUser(acme, { email, workspaces: { [acme.workspaceId]: 'member' } })
  await control.refresh()
  const mia = token({ sub: email, scope: 'prompts.list completions.write workspace_service_api_keys.list' })
  t.is((await list(mia)).status, 200)
  t.regex(errorOf(await list(mia, '/api-keys')).message, /its holder does not have here/)
  t.regex(errorOf(await list(token({ sub: email, workspace_slug: 'side' }))).message, /not a member of the workspace side/)
  ok(await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewPrompts: false } }))
  await eventually(async () => (await list(mia)).status === 403, 1000, 'the setting')
  t.is((await list(token())).status, 403, 'who is unknown is a member')
  ok(await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewPrompts: null } }))
  await eventually(async () => (await list(mia)).status === 200, 1000, 'the setting')
  ok(await control.call(acme.adminKey, 'DELETE', `/admin/users/${userId}`))
  await eventually(async () => (await chat(mia)).status === 403, 1000, 'the end of the user')
  t.regex(errorOf(await list(mia)).message, /was removed from the organisation/)
  await control.createUser(acme, { email, workspaces: { [acme.workspaceId]: 'member' } })
  await eventually(async () => (await chat(mia)).status === 200, 1000, 'the user, again')
})

const statusOf = async (more: Fields) => (await list(token({ scope: 'prompts.list', ...more }))).status

test.serial('an address that was given to another person makes nobody the user who had it', async (t) => {
  const email = 'noa@acme.example'
  const userId = await control.createUser(acme, { email, role: 'admin' })
  await control.createUser(acme, { email: 'ben@acme.example', workspaces: { [acme.workspaceId]: 'member' } })
  await control.refresh()
  const noa = { email_id: email, sub: 'noa-1' }
  t.is(await statusOf({ email_id: email, email_verified: false, sub: 'noa-2' }), 401)
  t.is(await statusOf(noa), 200)
  const taken = await list(token({ email_id: email, sub: 'noa-2', scope: 'prompts.list' }))
  t.is(taken.status, 403)
  t.regex(errorOf(taken).message, /noa@acme\.example is known by another sub\. An admin can clear .* PUT \/v1\/admin\/users/)
  const posing = await list(token({ email_id: 'ben@acme.example', sub: 'noa-1', scope: 'prompts.list' }))
  t.regex(errorOf(posing).message, /its sub is known as another user than ben@acme\.example/)
  t.is(await statusOf({ email_id: 'nobody@acme.example', sub: 'noa-1' }), 403)
  const ask = async () =>
    (await control.call(acme.adminKey, 'POST', '/oauth/introspect', { token: token({ sub: 'noa-1' }) })).body['user_id']
  t.is(await ask(), userId, 'iss and sub alone are the user from then on')

  await trust({ ...rules(), holder: 'email' })
  t.is(await statusOf({ email_id: email, sub: 'noa-2' }), 200)
  await trust()
  t.is(await statusOf({ email_id: email, sub: 'noa-2' }), 403)
  ok(await control.call(acme.adminKey, 'PUT', `/admin/users/${userId}`, { token_identities: null }))
  await control.refresh()
  t.is(await statusOf({ email_id: email, sub: 'noa-2' }), 200)
})

test.serial('a token for somebody else is refused, also where the organisation names no audience', async (t) => {
  const { audience: _, ...silent } = rules()
  await trust(silent)
  const answer = await list(token())
  t.is(answer.status, 401)
  t.regex(errorOf(answer).message, /it is for "gatehouse", and the organisation names no audience.*settings\.jwt\.audience/)
  t.is(await statusOf({ aud: undefined }), 200)
  for (const aud of [[], [null], ['other', null], 'https://gatehouse.example.evil', 'HTTPS://gatehouse.example'])
    t.is(await statusOf({ aud }), 401, JSON.stringify(aud))
  t.is(await statusOf({ aud: ['other', 'https://gatehouse.example'] }), 200, 'PUBLIC_URL is ours')
  await trust({ ...rules(), audience: '*' })
  t.is(await statusOf({ aud: 'anybody' }), 200)
  await trust()
})

test.serial('what was seen serves without the database, until it ends or the issuer is changed', async (t) => {
  const secret = token({ exp: seconds() + 300 })
  t.is((await chat(secret)).status, 200)
  await control.sql.query('BEGIN; LOCK TABLE organisations, users, workspaces IN ACCESS EXCLUSIVE MODE')
  try {
    t.is((await chat(secret)).status, 200)
  } finally {
    await control.sql.query('ROLLBACK')
  }
  now += 306_000
  t.regex(errorOf(await chat(secret)).message, /expired/)
  const next = token()
  t.is((await chat(next)).status, 200)
  await put({ ...rules(), audience: 'else' })
  await eventually(async () => (await chat(next)).status === 401, 1000, 'the new settings')
  await put(null)
  await eventually(async () => (await chat(next)).status === 403, 1000, 'the end of the issuer')
})

test.serial('a key that is new is found at once, one that was withdrawn ends, and strangers cannot make us ask', async (t) => {
  now += 60_000
  await chat(token())
  issuer.addKey('ES256', 'next')
  const before = issuer.asked
  now += 31_000
  t.is((await chat(token({}, { alg: 'ES256', kid: 'next' }))).status, 200)
  t.is(issuer.asked, before + 1)
  await Promise.all(Array.from({ length: 50 }, (_, at) => chat(token({}, { kid: `made-up-${at}` }))))
  t.is(issuer.asked, before + 1)
  const old = token({}, { alg: 'ES256', kid: 'next' })
  t.is((await chat(old)).status, 200)
  issuer.withdraw('next')
  now += 601_000
  t.regex(errorOf(await chat(old)).message, /no key for the kid/)
})

test.serial('an issuer that is away is a 503, and keys that were good serve on', async (t) => {
  issuer.fault = { status: 500, body: 'away' }
  await trust({ ...rules(), jwks_url: `${issuer.url}?unseen` })
  const [managed, called] = [await list(token()), await chat(token())]
  t.deepEqual([managed.status, called.status], [503, 503])
  t.regex(errorOf(called).message, /keys of its issuer cannot be had/)
  for (const body of ['{"keys":1}', 'no json']) {
    issuer.fault = { status: 200, body }
    now += 2000
    t.is((await chat(token())).status, 503, body)
  }
  issuer.fault = null
  await trust()
  now += 31_000
  t.is((await chat(token())).status, 200)
  issuer.fault = { status: 500, body: 'away' }
  now += 3600_000
  t.is((await chat(token())).status, 200)
  issuer.fault = { status: 200, body: '', hangs: true }
  now += 3600_000
  t.is((await chat(token())).status, 200)
  t.is(issuer.waiting, 1, 'nobody waits until the issuer is given up')
})

test.serial('keys are not fetched from where the guard lets nobody go', async (t) => {
  for (const url of ['http://169.254.169.254/keys', 'http://10.0.0.1/keys', 'http://localhost:5432/keys'])
    t.like(errorOf(await put({ jwks_url: url })), { code: 'blocked_host', param: 'settings.jwt.jwks_url' }, url)
  const stored = JSON.stringify({ jwt: { jwks_url: 'http://10.0.0.1/keys' } })
  await control.sql.query('UPDATE organisations SET settings = $2 WHERE id = $1', [other.organisationId, stored])
  await control.refresh()
  const answer = await chat(token({ organisation_id: other.organisationId }))
  t.is(answer.status, 403)
  t.regex(errorOf(answer).message, /requests may not go to the host/)
})

const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
const weak = { ...small.publicKey.export({ format: 'jwk' }), kid: 'a' }
const strong = () => ({ ...issuer.jwks.keys[0] })

const settings: Readonly<Record<string, () => readonly [jwt: unknown, param: string]>> = {
  'neither URL nor keys': () => [{ issuer: 'x' }, 'settings.jwt.jwks_url'],
  'both URL and keys': () => [{ jwks_url: issuer.url, jwks: issuer.jwks }, 'settings.jwt.jwks_url'],
  'a URL of another kind': () => [{ jwks_url: 'ftp://issuer.example/keys' }, 'settings.jwt.jwks_url'],
  'an algorithm with a shared secret': () => [{ ...rules(), algorithms: ['HS256'] }, 'settings.jwt.algorithms[0]'],
  'no algorithm': () => [{ ...rules(), algorithms: [] }, 'settings.jwt.algorithms'],
  'a secret as a key': () => [{ jwks: { keys: [{ kty: 'oct', kid: 'a', k: 'c2VjcmV0' }] } }, 'settings.jwt.jwks.keys[0].kty'],
  'a private key': () => [{ jwks: { keys: [{ ...strong(), d: 'AQAB' }] } }, 'settings.jwt.jwks.keys[0].d'],
  'a key without a kid': () => [{ jwks: { keys: [{ ...strong(), kid: undefined }] } }, 'settings.jwt.jwks.keys[0].kid'],
  'a kid that comes twice': () => [{ jwks: { keys: [strong(), strong()] } }, 'settings.jwt.jwks.keys'],
  'a key that is too short': () => [{ jwks: { keys: [weak] } }, 'settings.jwt.jwks.keys[0].n'],
  'a key that lacks a part': () => [{ jwks: { keys: [{ ...strong(), n: undefined }] } }, 'settings.jwt.jwks.keys[0].n'],
  'a NUL in a key': () => [{ jwks: { keys: [{ ...strong(), use: 'a\0b' }] } }, 'settings.jwt.jwks.keys[0].kid'],
  'a NUL in the issuer': () => [{ ...rules(), issuer: 'a\0b' }, 'settings.jwt.issuer'],
  'a field that is not known': () => [{ ...rules(), secret: 'x' }, 'settings.jwt.secret'],
  'a tolerance of hours': () => [{ ...rules(), clock_tolerance: 3600 }, 'settings.jwt.clock_tolerance'],
}

for (const [name, make] of Object.entries(settings))
  test.serial(`a setting is refused: ${name}`, async (t) => {
    const [jwt, param] = make()
    t.like(errorOf(await put(jwt)), { code: 'AB01', param })
  })

const readJwt = async () => (ok(await control.call(acme.adminKey, 'GET', '/admin/organisation')).body['settings'] as Fields)['jwt']

test.serial('the settings are answered as they are stored, and null clears them', async (t) => {
  t.like(await readJwt(), {
    ...rules(),
    algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    clock_tolerance: 5,
    jwks_cache_max_age: 600,
  } as never)
  await put(null)
  t.is(await readJwt(), null)
})

test.serial('a token that is too old, or of an algorithm that was taken out, is refused', async (t) => {
  await trust({ ...rules(), max_token_age: 60, algorithms: ['ES256'] })
  t.regex(errorOf(await list(token())).message, /algorithm is "RS256"; allowed are ES256/)
  t.is((await list(token({}, { alg: 'ES256' }))).status, 200)
  t.regex(errorOf(await list(token({ iat: seconds() - 120 }, { alg: 'ES256' }))).message, /older than this organisation allows/)
})

test.serial('a token may say what its requests start from', async (t) => {
  const made = await control.call(acme.workspaceKey, 'POST', '/configs', {
    name: 'seeded',
    slug: 'seeded',
    config: { provider: '@p', override_params: { seed: 11 } },
  })
  t.is(made.status, 200, made.text)
  const secret = token({ defaults: { config_id: 'seeded', metadata: { team: 'blue' } } })
  t.is((await chat(secret)).status, 200)
  t.is(emulator.requests.at(-1)?.json['seed'], 11)
  for (const defaults of [{ allow_config_override: false }, { config_id: 'seeded', allow_config_override: false }])
    t.is((await chat(token({ defaults }), undefined, { 'x-service-config': '{"provider":"@p"}' })).status, 403)
})

test.serial('a token of a provider beside a key of ours is left alone', async (t) => {
  const theirs = issuer.sign({ sub: 'somebody', exp: seconds() + 60 })
  const response = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': acme.workspaceKey,
      authorization: `Bearer ${theirs}`,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'm', messages: [] }),
  })
  t.is(response.status, 200, await response.text())
  t.is(emulator.requests.at(-1)?.headers.authorization, `Bearer ${theirs}`)
})

test.serial('a token, and a key, can be asked about by who may read users', async (t) => {
  const email = 'ada@acme.example'
  const userId = await control.createUser(acme, { email, workspaces: { [acme.workspaceId]: 'member' } })
  await control.sql.query(`UPDATE users SET first_name = 'Ada', last_name = 'Lovelace' WHERE id = $1`, [userId])
  await control.refresh()
  const ask = async (secret: string, key = acme.adminKey) => (await control.call(key, 'POST', '/oauth/introspect', { token: secret })).body
  const person = await ask(token({ sub: email, scope: 'prompts.list admin' }))
  t.like(person, { active: true, token_type: 'jwt', scope: 'prompts.list', user_id: userId, email, username: 'Ada Lovelace', sub: email })
  t.like(person, { iss: 'https://issuer.example', exp: seconds() + 3600, iat: seconds(), workspace_id: acme.workspaceId })
  t.like(await ask(token()), { active: true, user_id: null, email: null, username: 'robot-1' })
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, userId, scopes: ['prompts.list', 'prompts.create'] })
  t.like(await ask(key), { active: true, token_type: 'api_key', scope: 'prompts.list', email, username: 'Ada Lovelace' })
  t.like(await ask(acme.adminKey), { active: true, email: null, username: null, workspace_id: null })
  const unseen = [token({ exp: seconds() - 60 }), 'eyJ.x.y', 'gh-nothing', other.workspaceKey]
  for (const secret of unseen) t.deepEqual(await ask(secret), { active: false })
  t.deepEqual(await ask(acme.sideKey, acme.workspaceKey), { active: false })
  t.is((await control.call(token(), 'POST', '/oauth/introspect', { token: 'x' })).status, 403)
  const form = await fetch(`${control.origin}/v1/oauth/introspect`, {
    method: 'POST',
    headers: { 'x-service-api-key': acme.adminKey },
    body: new URLSearchParams({ token: key, token_type_hint: 'access_token' }),
  })
  t.like(await form.json(), { active: true, user_id: userId })
})

test.serial('requests with a token pass the guardrails of their workspace, as those with a key do', async (t) => {
  const check = { id: 'default.requiredMetadataKeys', parameters: { metadataKeys: ['team'], operator: 'all' } }
  const made = ok(
    await control.call(acme.workspaceKey, 'POST', '/guardrails', {
      name: 'Team',
      checks: [check],
      actions: { deny: true },
    }),
  )
  const impose = (guardrails: readonly string[] | null) =>
    control.call(acme.adminKey, 'PUT', '/admin/workspaces/main', { defaults: { input_guardrails: guardrails } })
  t.is((await chat(token())).status, 200)
  ok(await impose([String(made.body['slug'])]))
  await control.refresh()
  try {
    const before = emulator.requests.length
    for (const secret of [token(), acme.workspaceKey]) t.is((await chat(secret)).status, 446)
    t.is(emulator.requests.length, before)
    t.is((await chat(token(), 'x-service-api-key', { 'x-service-metadata': '{"team":"search"}' })).status, 200)
  } finally {
    ok(await impose(null))
    await control.refresh()
  }
})
