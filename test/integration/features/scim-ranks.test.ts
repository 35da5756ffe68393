import { randomUUID } from 'node:crypto'
import test from 'ava'
import { organisationScopes, tokenScopes } from '../../../src/lib/access/scopes.ts'
import { startIssuer, type Issuer } from '../../support/issuer.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { keyCredential, makeKey, personOf, rankLetters, sessionOf, type Credential, type Rank } from './ranks.ts'
import { clientWith, groupSchema, patchOf, userSchema, type ScimClient } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let mail: MailServer
let issuer: Issuer
let control: Control
let acme: Tenant
let other: Tenant

test.before(async () => {
  ;[mail, issuer] = await Promise.all([startMailServer({ user: 'gatehouse', password: 'mail-password' }), startIssuer()])
  const env = {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mail.port),
    SMTP_TLS: 'NONE',
    SMTP_USER: 'gatehouse',
    SMTP_PASSWORD: 'mail-password',
  }
  control = await startControl(
    {},
    { ...env, PUBLIC_URL: 'https://gate.example', ORGANISATION_DOMAINS: 'acme=acme.example,acme=second.example,foreign=foreign.example' },
  )
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
})
test.after.always(async () => {
  await control?.close()
  await mail?.stop()
  issuer?.close()
})

const session = async (rank: Rank) => sessionOf(control, await personOf(control, acme, rank), `session of ${rank}`)

async function clientBy(by: Credential): Promise<ScimClient> {
  const { body, text } = await by.ask('POST', '/scim/tokens', { name: by.name })
  const { token } = body
  if (typeof token !== 'string') throw new Error(text)
  return clientWith(control.origin, token)
}

const clientOf = (tenant: Tenant) => clientBy(keyCredential(control, 'first organisation key', tenant.adminKey))
const rules = (more: object = {}) => ({ jwks: issuer.jwks, issuer: 'https://issuer.example', ...more })
const move = (client: ScimClient, id: string, email: string) =>
  client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'emails', value: [{ value: email, primary: true }] }) })
const add = (client: ScimClient, email: string, more: object = {}) =>
  client.send('POST', '/Users', { body: { schemas: [userSchema], userName: email, ...more } })

test.serial('a person whose address changes is told at the former one', async (t) => {
  const [client, person] = [await clientOf(acme), await personOf(control, acme, 'm')]
  const email = `${randomUUID()}@second.example`
  t.is((await move(client, person.id, email)).status, 200)
  const { part, header } = await mail.mailTo(person.email)
  t.regex(header('Subject') ?? '', /^Your address at .* was changed$/)
  t.true(part('text/html').includes(person.email) && part('text/html').includes(email))
  const names = patchOf({ op: 'replace', path: 'name.givenName', value: 'Another' })
  t.is((await client.send('PATCH', `/Users/${person.id}`, { body: names })).status, 200)
  t.is((await control.sql.query('SELECT 1 FROM outgoing_mails WHERE recipient = $1', [email])).rows.length, 0, 'a name is no address')
})

test.serial('SCIM gives addresses within the domains of the organisation alone', async (t) => {
  const client = await clientOf(acme)
  const domains: readonly (readonly [string, boolean])[] = [
    ['acme.example', true],
    ['ACME.example', true],
    ['second.example', true],
    ['evil.example', false],
    ['foreign.example', false],
    ['acme.example.evil.example', false],
    ['sub.acme.example', false],
  ]
  for (const [domain, taken] of domains) {
    const email = `${randomUUID()}@${domain}`
    const { id } = await personOf(control, acme, 'm')
    const replaced = { schemas: [userSchema], userName: randomUUID(), emails: [{ value: `x-${email}` }] }
    for (const answer of [
      await add(client, email),
      await add(client, randomUUID(), { emails: [{ value: `y-${email}` }] }),
      await move(client, id, `z-${email}`),
      await client.send('PUT', `/Users/${id}`, { body: replaced }),
    ]) {
      t.is(answer.status < 300, taken, `${domain}: ${answer.text}`)
      if (!taken) t.like(answer.body, { status: '400', scimType: 'invalidValue' }, domain)
    }
  }
})

test.serial('an organisation that has stated no domain takes any that is not owned by another', async (t) => {
  const client = await clientOf(other)
  t.is((await add(client, `${randomUUID()}@anywhere.example`)).status, 201)
  t.is((await add(client, `${randomUUID()}@acme.example`)).status, 400)
})

test.serial('an address outside the domains that was there stays, whatever else is written', async (t) => {
  const client = await clientOf(acme)
  const email = `${randomUUID()}@old.example`
  const id = await control.createUser(acme, { email })
  const body = { schemas: [userSchema], userName: email, name: { givenName: 'Another' }, emails: [{ value: email }] }
  t.is((await client.send('PUT', `/Users/${id}`, { body })).status, 200)
  t.is((await move(client, id, `x-${email}`)).status, 400)
})

test.serial('a token whose maker is no admin any longer makes none by groups', async (t) => {
  const maker = await personOf(control, acme, 'A')
  const client = await clientBy(await sessionOf(control, maker, 'admin'))
  const [first, second] = [await personOf(control, acme, 'm'), await personOf(control, acme, 'm')]
  const body = { schemas: [groupSchema], displayName: 'org-role-admin', members: [{ value: first.id }] }
  const group = await client.send('POST', '/Groups', { body })
  t.is(group.status, 201, group.text)
  await control.sql.query(`UPDATE users SET role = 'member' WHERE id = $1`, [maker.id])
  const path = `/Groups/${group.body.id}`
  t.is((await client.send('PATCH', path, { body: patchOf({ op: 'add', path: 'members', value: [{ value: second.id }] }) })).status, 403)
  t.is((await client.send('DELETE', path)).status, 403, 'nor takes it from those who are')
  const roles = await control.sql.query<{ role: string }>('SELECT role FROM users WHERE id IN ($1, $2) ORDER BY role', [
    first.id,
    second.id,
  ])
  t.deepEqual(
    roles.rows.map(({ role }) => role),
    ['admin', 'member'],
  )
  t.is((await (await clientOf(acme)).send('DELETE', path)).status, 204)
})

for (const [rank, end] of [
  ['a member', "role = 'member'"],
  ['removed', "status = 'archived'"],
] as const)
  test.serial(`a token gives no places in workspaces once its maker is ${rank}`, async (t) => {
    const maker = await personOf(control, acme, 'A')
    const client = await clientBy(await sessionOf(control, maker, 'admin'))
    await control.sql.query(`UPDATE users SET ${end} WHERE id = $1`, [maker.id])
    await control.refresh()
    const person = await personOf(control, acme, 'm')
    for (const role of ['admin', 'manager', 'member']) {
      const body = { schemas: [groupSchema], displayName: `ws-side-role-${role}`, members: [{ value: person.id }] }
      const answer = await client.send('POST', '/Groups', { body })
      t.is(answer.status, 403, `${role}: ${answer.text}`)
    }
    const places = await control.sql.query('SELECT 1 FROM workspace_members WHERE user_id = $1 AND by_group', [person.id])
    t.is(places.rowCount, 0)
  })

test.serial('tokens of an issuer speak for people up to the rank of the caller that set it', async (t) => {
  const [owner, admin] = [await session('O'), await session('A')]
  const scopes = ['organisation_settings.update', 'workspace_service_api_keys.create', ...tokenScopes(true)]
  const narrow = { workspaceId: acme.workspaceId, scopes: scopes.filter((scope) => organisationScopes.includes(scope)) }
  const setters: readonly (readonly [Credential, string])[] = [
    [owner, 'OAagm'],
    [admin, '-Aagm'],
    [keyCredential(control, 'first organisation key', acme.adminKey), '-Aagm'],
    [keyCredential(control, 'key by an owner', (await makeKey(owner, 'organisation', narrow)).secret), '-Aagm'],
  ]
  const reach = async () => {
    await control.refresh()
    const cells: string[] = []
    for (const rank of rankLetters) {
      const { id, email } = await personOf(control, acme, rank)
      const claims = {
        organisation_id: acme.organisationId,
        workspace_slug: 'main',
        email_id: email,
        sub: id,
        iss: 'https://issuer.example',
      }
      const token = issuer.sign({ ...claims, scope: 'prompts.list', exp: Date.now() / 1000 + 3600 })
      const { status, text } = await control.call(token, 'GET', '/prompts')
      if (status !== 200 && status !== 403) throw new Error(text)
      cells.push(status === 200 ? rank : '-')
      const { rows } = await control.sql.query('SELECT 1 FROM user_identities WHERE user_id = $1', [id])
      t.is(rows.length, status === 200 ? 1 : 0, 'a subject is no way in for a later issuer')
    }
    return cells.join('')
  }
  const set = async (by: Credential, jwt: object | null) =>
    t.is((await by.ask('PUT', '/admin/organisation', { settings: { jwt } })).status, 200)
  for (const [at, [by, expected]] of setters.entries()) {
    await set(by, rules({ clock_tolerance: at }))
    t.is(await reach(), expected, by.name)
  }
  await set(owner, rules())
  await set(admin, rules())
  t.is(await reach(), 'OAagm', 'the same again takes nothing')
  await set(admin, null)
  await set(admin, rules())
  t.is(await reach(), '-Aagm', 'away and back is another')
  for (const missing of ['logs.list', 'prompts.read', 'workspace_service_api_keys.create']) {
    const { secret } = await makeKey(owner, 'organisation', { ...narrow, scopes: narrow.scopes.filter((scope) => scope !== missing) })
    const key = keyCredential(control, 'a narrower key', secret)
    const refused = await key.ask('PUT', '/admin/organisation', { settings: { jwt: rules({ clock_tolerance: 9 }) } })
    t.is(refused.status, 403, refused.text)
    t.true(refused.text.includes(missing) && refused.text.includes('settings.jwt'), refused.text)
    t.is((await key.ask('PUT', '/admin/organisation', { settings: { jwt: rules() } })).status, 200, 'the same again is no new issuer')
    t.is((await key.ask('PUT', '/admin/organisation', { name: 'acme' })).status, 200)
  }
})
