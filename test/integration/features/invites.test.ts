import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { deliverMails } from '../../../src/app/mail/outbox.ts'
import { eventually } from '../../support/eventually.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let mail: MailServer
let control: Control
let acme: Tenant
let folder: string
let now = Date.now()

test.before(async () => {
  mail = await startMailServer({ user: 'gatehouse', password: 'mail-password' })
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-mails-'))
  const env = {
    PUBLIC_URL: 'https://gate.example',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mail.port),
    SMTP_TLS: 'NONE',
    SMTP_USER: 'gatehouse',
    SMTP_PASSWORD: 'mail-password',
    EMAIL_COMPANY_NAME: 'Example & Co',
    EMAIL_SUPPORT_EMAIL: 'help@example.com',
    EMAIL_TEMPLATES_PATH: folder,
  }
  control = await startControl({ clock: { now: () => now } }, env)
  acme = await control.createTenant('acme <b>')
})
test.after.always(async () => {
  await control?.close()
  await mail?.stop()
  await rm(folder, { recursive: true, force: true })
})

const admin = (method: string, path: string, body?: unknown) => control.call(acme.adminKey, method, path, body)
const invite = (email: string, fields: Readonly<Record<string, unknown>> = {}) =>
  admin('POST', '/admin/users/invites', { email, role: 'member', ...fields })
const accept = (token: string, fields = {}) => control.call('', 'POST', '/admin/users/invites/accept', { token, ...fields })
const errorOf = ({ body }: Answer) => body['error'] as { code: string; param: string; message: string }
const linkIn = (text: string) => /https:\/\/gate\.example\/invite#token=([\w-]{43})/.exec(text)?.[1] ?? ''
const tokenOf = ({ body }: Answer) => linkIn(String(body['invite_link']))

test.serial('an invitation is mailed, accepted once, and gives the places and keys that it promised', async (t) => {
  const sent = await invite('Ada@Example.com', {
    workspaces: [
      { id: 'side', role: 'manager' },
      { id: acme.workspaceId, role: 'member' },
    ],
    workspace_api_key_details: { scopes: ['completions.write', 'prompts.create'] },
  })
  t.is(sent.status, 200, sent.text)
  const { part, from, header } = await mail.mailTo('ada@example.com')
  t.is(from, 'no-reply@127.0.0.1')
  t.is(header('Subject'), 'You are invited to acme <b> on Example & Co')
  t.regex(part('text/html'), /You are invited to acme &lt;b&gt;/)
  t.regex(part('text/html'), /Your workspaces: (?:Side, Main|Main, Side)/)
  t.false(part('text/html').includes('<img'), 'no logo is set')
  t.regex(part('text/plain'), /Accept the invitation \(https:\/\/gate\.example\/invite#token=[\w-]{43}\)/)
  const token = linkIn(part('text/plain'))
  t.is(token, tokenOf(sent))
  t.like((await admin('GET', `/admin/users/invites/${String(sent.body['id'])}`)).body, {
    email: 'ada@example.com',
    status: 'pending',
    role: 'member',
    accepted_at: null,
    object: 'invite',
  })
  const accepted = await accept(token, { first_name: 'Ada' })
  t.is(accepted.status, 200, accepted.text)
  const keys = accepted.body['api_keys'] as { workspace_id: string; key: string }[]
  t.deepEqual(
    keys.map(({ workspace_id }) => workspace_id),
    [acme.sideId, acme.workspaceId],
  )
  t.like((await admin('GET', `/admin/users/${String(accepted.body['user_id'])}`)).body, { first_name: 'Ada', role: 'member' })
  t.like((await admin('GET', `/admin/users/invites/${String(sent.body['id'])}`)).body, { status: 'accepted' })
  await control.refresh()
  const config = { name: 'x', config: { request_timeout: 1 } }
  t.is((await control.call(keys[0]?.key ?? '', 'POST', '/configs', config)).status, 403, 'the scope was not given')
  t.is((await accept(token)).status, 401)
  const rows = await control.sql.query(
    `SELECT actor_type, actor_name, action FROM audit_logs WHERE resource_type = 'invite' AND resource_id = $1 ORDER BY seq`,
    [sent.body['id']],
  )
  t.deepEqual(
    rows.rows.map(({ actor_type, action }: { actor_type: string; action: string }) => `${actor_type} ${action}`),
    ['api_key create', 'invite accept'],
  )
})

test.serial('what is stored holds no link, and neither does the log', async (t) => {
  const sent = await invite('grep@example.com')
  t.false((await control.dump()).includes(tokenOf(sent)))
})

test.serial('of fifty who accept at once one is made a user', async (t) => {
  const token = tokenOf(await invite('race@example.com'))
  const answers = await Promise.all(Array.from({ length: 50 }, () => accept(token)))
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  // A machine that is busy may let some wait for the database in vain; none of these is let in.
  t.deepEqual(
    answers.filter(({ status }) => ![200, 401, 503].includes(status)),
    [],
  )
  t.like((await admin('GET', '/admin/users?email=race@example.com')).body, { total: 1 })
})

test.serial('cancelled, renewed, unknown and used links give one and the same answer', async (t) => {
  const cancelled = await invite('cancel@example.com')
  t.is((await admin('DELETE', `/admin/users/invites/${String(cancelled.body['id'])}`)).status, 200)
  t.is((await admin('DELETE', `/admin/users/invites/${String(cancelled.body['id'])}`)).status, 409)
  const first = await invite('renew@example.com')
  const again = await admin('POST', `/admin/users/invites/${String(first.body['id'])}/resend`)
  t.is(again.body['inviteLink'], again.body['invite_link'])
  const answers = await Promise.all([tokenOf(cancelled), tokenOf(first), 'nonsense'].map((token) => accept(token)))
  for (const answer of answers) t.like(errorOf(answer), { code: 'AB05', param: 'token', message: errorOf(answers[0] as Answer).message })
  t.is((await accept(tokenOf(again))).status, 200)
})

test.serial('nobody sends an invitation again that they could not make', async (t) => {
  const workspaces = [{ id: acme.workspaceId, role: 'member' }]
  const made = await invite('resent@example.com', { workspaces, workspace_api_key_details: { scopes: ['logs.list'] } })
  const path = `/admin/users/invites/${String(made.body['id'])}/resend`
  const few = await control.createKey(acme, { scopes: ['organisation_users.create'] })
  const answer = await control.call(few, 'POST', path)
  t.is(answer.status, 403, answer.text)
  t.is((await control.call(acme.adminKey, 'POST', path)).status, 200)
})

const refused: readonly (readonly [status: number, param: string, body: Readonly<Record<string, unknown>>])[] = [
  [400, 'email', { email: 'no address', role: 'member' }],
  [400, 'email', { email: 'a@example.com\r\nBcc: b@example.com', role: 'member' }],
  [400, 'role', { email: 'x@example.com', role: 'owner' }],
  [404, 'workspaces[0].id', { email: 'x@example.com', role: 'member', workspaces: [{ id: 'nowhere', role: 'member' }] }],
  [
    400,
    'workspaces[1].id',
    {
      email: 'x@example.com',
      role: 'member',
      workspaces: [
        { id: 'side', role: 'member' },
        { id: 'side', role: 'admin' },
      ],
    },
  ],
  [400, 'scopes', { email: 'x@example.com', role: 'member', workspace_api_key_details: { scopes: ['organisation_users.create'] } }],
  [409, 'email', { email: 'Person@here.example', role: 'member' }],
]
test.serial('refused invitations', async (t) => {
  await control.createUser(acme, { email: 'person@here.example' })
  for (const [status, param, body] of refused) {
    const answer = await admin('POST', '/admin/users/invites', body)
    t.is(answer.status, status, answer.text)
    t.is(errorOf(answer).param, param)
  }
  t.is((await control.call(acme.workspaceKey, 'POST', '/admin/users/invites', { email: 'x@example.com', role: 'member' })).status, 403)
})

const asks = (keys: unknown) => admin('PUT', '/admin/organisation', { settings: { api_key_metadata_keys: keys } })

test.serial('an invitation promises no key that would lack what the organisation asks of keys', async (t) => {
  const promise = { workspaces: [{ id: 'side', role: 'member' }], workspace_api_key_details: { scopes: ['completions.write'] } }
  const sent = await invite('early@example.com', promise)
  t.is((await asks(['team'])).status, 200)
  const unkept = await accept(tokenOf(sent))
  t.like(errorOf(unkept), { code: 'AB01', param: 'token' })
  t.regex(errorOf(unkept).message, /"team".*Invite without keys/)
  t.like(errorOf(await invite('later@example.com', promise)), { code: 'AB01', param: 'workspace_api_key_details' })
  t.is((await accept(tokenOf(await invite('later@example.com', { workspaces: promise.workspaces })))).status, 200)
  t.is((await asks(null)).status, 200)
  t.is((await accept(tokenOf(sent))).status, 200, 'nothing was done before')
})

test.serial('an invitation runs out after a week, and makes room for another', async (t) => {
  const sent = await invite('late@example.com')
  t.is((await invite('late@example.com')).status, 409)
  now += 7 * 24 * 3600 * 1000
  t.is((await accept(tokenOf(sent))).status, 401)
  t.like((await admin('GET', '/admin/users/invites?status=expired&email=late@example.com&pageSize=5')).body, { total: 1 })
  t.is((await invite('late@example.com')).status, 200)
  t.like((await admin('GET', '/admin/users/invites?status=pending&email=late@example.com')).body, { total: 1 })
  t.like((await admin('GET', '/admin/users/invites?status=cancelled&email=late@example.com')).body, { total: 1 })
})

test.serial('a mail that the server refuses is kept, and sent later', async (t) => {
  const { deps } = control.started
  const waiting = async () => (await control.sql.query('SELECT 1 FROM outgoing_mails')).rows.length
  await eventually(async () => (await waiting()) === 0, 5000, 'earlier mails')
  mail.refuse(true)
  const before = mail.attempts()
  t.is((await invite('patient@example.com')).status, 200)
  const due = async () =>
    (await control.sql.query('SELECT attempts, last_error FROM outgoing_mails WHERE recipient = $1', ['patient@example.com'])).rows[0] as
      | { attempts: number; last_error: string | null }
      | undefined
  await eventually(async () => (await due())?.last_error !== null, 5000, 'the refusal')
  t.is(mail.attempts(), before + 1)
  t.regex(String((await due())?.last_error), /not now/)
  mail.refuse(false)
  await deliverMails(deps)
  t.is(mail.attempts(), before + 1, 'not before its time')
  now += 2 * 60_000 + 1000
  await deliverMails(deps)
  t.is((await mail.mailTo('patient@example.com')).to[0], 'patient@example.com')
  t.is(await due(), undefined)
})

test.serial('a template of the operator replaces ours; its variables are text, and what is unknown stays empty', async (t) => {
  const template =
    '<title>{{organisation_name}}\r\nBcc: x@example.com {{invite_link}}</title><p>{{{role}}} {{ nothing }}|{{organisation_name}}|{{#logo_url}}logo{{/logo_url}}</p>'
  await writeFile(join(folder, 'user-invite.html'), template)
  t.teardown(() => rm(join(folder, 'user-invite.html')))
  await admin('PUT', '/admin/organisation', { name: '{{invite_link}}<script>"&' })
  await invite('own@example.com')
  await admin('PUT', '/admin/organisation', { name: 'acme <b>' })
  const { part, header, to, raw } = await mail.mailTo('own@example.com')
  t.deepEqual(to, ['own@example.com'])
  t.regex(header('Subject'), /^\{\{invite_link\}\}<script>"& Bcc: x@example\.com https:/)
  t.notRegex(raw.split('\r\n\r\n', 1)[0] ?? '', /^Bcc:/im)
  t.regex(part('text/html'), /<p>\{member\} \|\{\{invite_link\}\}&lt;script&gt;&quot;&amp;\|<\/p>/)
})
