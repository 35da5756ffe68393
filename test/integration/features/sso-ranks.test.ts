import { generateKeyPairSync, randomUUID } from 'node:crypto'
import test from 'ava'
import { errorOf } from '../../support/caller.ts'
import { openBrowser, publicUrl } from '../../support/oidc/browser.ts'
import { startCertified, type CertifiedProvider } from '../../support/oidc/certified.ts'
import type { TestPerson } from '../../support/people.ts'
import { keyCredential, makeKey, personOf, rankLetters, sessionOf, type Credential, type Rank } from './ranks.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let provider: CertifiedProvider
const client = { client_id: 'gatehouse', client_secret: 'a-client-secret-that-nobody-may-see' }

test.before(async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const known = { ...client, redirect_uris: [`${publicUrl}/auth/oidc/acme/callback`] }
  provider = await startCertified([known], { keys: [{ ...rsa, kid: 'sig-1', use: 'sig', alg: 'RS256' }] })
  control = await startControl({}, { PUBLIC_URL: publicUrl, ORGANISATION_DOMAINS: 'acme=acme.example' })
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  provider?.close()
})

const body = (more: object = {}) => ({
  type: 'oidc',
  issuer: provider.issuer,
  ...client,
  domains: ['acme.example'],
  name: 'Provider',
  ...more,
})

async function signsIn(person: TestPerson, sub = `sub of ${person.email}`) {
  provider.person = { sub, claims: { email: person.email, email_verified: true } }
  return openBrowser(control.origin).signIn('/auth/oidc/acme/login')
}

async function setBy(by: Credential, more: object = {}): Promise<void> {
  const { status, text } = await by.ask('PUT', '/admin/organisation/sso', body(more))
  if (status !== 200) throw new Error(`${by.name}: ${status} ${text}`)
}

async function reach(): Promise<string> {
  const cells: string[] = []
  for (const rank of rankLetters) {
    const answer = await signsIn(await personOf(control, acme, rank))
    if (answer.status !== 303 && answer.status !== 403) throw new Error(answer.text)
    cells.push(answer.status === 303 ? rank : '-')
  }
  return cells.join('')
}

const session = async (rank: Rank) => sessionOf(control, await personOf(control, acme, rank), `session of ${rank}`)

test.serial('an identity provider signs in people up to the rank of the caller who set it', async (t) => {
  const [owner, admin] = [await session('O'), await session('A')]
  const narrow = { workspaceId: acme.workspaceId, scopes: ['organisation_settings.update'] }
  const setters: readonly (readonly [Credential, string])[] = [
    [owner, 'OAagm'],
    [admin, '-Aagm'],
    [keyCredential(control, 'first organisation key', acme.adminKey), '-Aagm'],
    [keyCredential(control, 'key by an owner', (await makeKey(owner, 'organisation', narrow)).secret), '-Aagm'],
  ]
  for (const [at, [by, expected]] of setters.entries()) {
    await setBy(by, { scopes: ['openid', 'email', `s${at}`] })
    t.is(await reach(), expected, by.name)
  }
})

test.serial('who sends the same settings again takes no rank from the provider, and gives it none', async (t) => {
  const [owner, admin] = [await session('O'), await session('A')]
  await setBy(owner)
  await setBy(admin, { name: 'Another name' })
  t.is(await reach(), 'OAagm')
  await setBy(admin, { domains: ['acme.example', 'other.example'] })
  t.is(await reach(), '-Aagm')
})

test.serial('an owner whom the provider knew by a subject is no way in for a later one', async (t) => {
  const [owner, admin, person] = [await session('O'), await session('A'), await personOf(control, acme, 'O')]
  await setBy(owner)
  const sub = randomUUID()
  t.is((await signsIn(person, sub)).status, 303)
  await setBy(admin, { scopes: ['openid', 'email', 'another'] })
  const refused = await signsIn(person, sub)
  t.like(errorOf(refused), { code: 'AB03' })
  t.regex(errorOf(refused).message, /not set by an owner/)
})

test.serial('an invitation gives nothing that the person who made it may give no longer', async (t) => {
  const [owner, person] = [await session('O'), await personOf(control, acme, 'A')]
  const by = await sessionOf(control, person, 'admin')
  const invite = async (more: object) => {
    const { body: made } = await by.ask('POST', '/admin/users/invites', {
      email: `${randomUUID()}@acme.example`,
      workspaces: [],
      ...more,
    })
    return new URL(String(made['invite_link'])).hash.slice('#token='.length)
  }
  const asAdmin = await invite({ role: 'admin' })
  const asPlaced = await invite({ role: 'member', workspaces: [{ id: acme.workspaceId, role: 'manager' }] })
  const asMember = await invite({ role: 'member' })
  t.is((await owner.ask('PUT', `/admin/users/${person.id}`, { role: 'member' })).status, 200)
  const accept = (token: string) => control.call('', 'POST', '/admin/users/invites/accept', { token })
  t.is((await accept(asAdmin)).status, 401)
  t.is((await accept(asPlaced)).status, 401)
  t.is((await accept(asMember)).status, 200)
})

test.serial('an identity that only a token has shown signs nobody in, and gives way to the one that signs in', async (t) => {
  await setBy(await session('O'))
  const victim = await personOf(control, acme, 'A')
  await control.sql.query(
    `INSERT INTO user_identities (id, organisation_id, user_id, issuer, subject, by_token) VALUES ($1, $2, $3, $4, 'planted', true)`,
    [randomUUID(), acme.organisationId, victim.id, provider.issuer],
  )
  const asStranger = async () => {
    provider.person = { sub: 'planted', claims: { email: 'stranger@elsewhere.example', email_verified: false } }
    return openBrowser(control.origin).signIn('/auth/oidc/acme/login')
  }
  t.is((await asStranger()).status, 403)
  t.is((await signsIn(victim)).status, 303, 'the person of the address signs in by a verified address')
  t.is((await asStranger()).status, 403)
  t.is((await signsIn(victim)).status, 303)
  const { rows } = await control.sql.query('SELECT subject, by_token FROM user_identities WHERE user_id = $1', [victim.id])
  t.deepEqual(rows, [{ subject: `sub of ${victim.email}`, by_token: false }])

  const clear = await (await session('O')).ask('PUT', `/admin/users/${victim.id}`, { token_identities: null })
  t.is(clear.status, 200, clear.text)
  const { rows: kept } = await control.sql.query('SELECT subject FROM user_identities WHERE user_id = $1', [victim.id])
  t.is(kept.length, 1, 'an identity of sign-ins is no identity of tokens')
})
