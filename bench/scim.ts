// SCIM with 10,000 users and 1,000 groups: a full synchronisation as an identity provider makes it, and one of the changes. `--users` sets how many
// users there are, and a tenth as many groups.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import { startGatehouse } from '../test/support/process.ts'
import { inParallel } from '../test/support/in-parallel.ts'
import { ask } from './control-data.ts'

const { values: options } = parseArgs({ options: { users: { type: 'string', default: '10000' } } })
const people = Number(options.users)
if (!Number.isInteger(people) || people < 100) throw new Error('--users is a whole number from 100.')
const amounts = {
  users: people,
  groups: Math.floor(people / 10),
  membersOfGroup: 20,
  changedUsers: Math.min(500, people),
  changedGroups: Math.min(100, Math.floor(people / 10)),
  removedUsers: Math.min(100, Math.floor(people / 10)),
  pages: Math.ceil(people / 100),
}
/** An identity provider sends some requests at once. */
const width = 4
const say = (text: string) => console.log(text)

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const server = await startEmbedded({ dataDir: folder, log: pino({ level: 'silent' }) })
Object.assign(process.env, {
  GATEHOUSE_TEST_DB_HOST: server.host,
  GATEHOUSE_TEST_DB_PORT: String(server.port),
  GATEHOUSE_TEST_DB_USER: server.superuser.user,
  GATEHOUSE_TEST_DB_PASS: server.superuser.password,
})
const gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'warn' } })
const { token } = await ask(gatehouse.origin, 'POST', '/scim/tokens', { name: 'bench' })

interface Resource {
  readonly id: string
}

const tries = 5

/** Asks again after a 503, as identity providers do. */
async function scim<Body>(method: string, path: string, body?: unknown, left = tries): Promise<Body> {
  const answer = await fetch(`${gatehouse.origin}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${String(token)}`, 'content-type': 'application/scim+json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status === 503 && left > 0) return scim(method, path, body, left - 1)
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Body
}

async function timed(what: string, requests: number, work: () => Promise<unknown>): Promise<void> {
  const from = performance.now()
  await work()
  const seconds = (performance.now() - from) / 1000
  say(`| ${what} | ${requests} | ${seconds.toFixed(1)} | ${(requests / seconds).toFixed(0)} |`)
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
const filter = (text: string) => `filter=${encodeURIComponent(text)}`
const patch = (...operations: readonly unknown[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})

const users: string[] = []
/** A person who is not in this group. */
const stranger = (group: number) => users[(group * 10 + Math.floor(amounts.users / 2)) % amounts.users]
const groups: string[] = []
say(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
say('| step | requests | seconds | requests/s |\n| --- | ---: | ---: | ---: |')
await timed(`full: look for and add ${amounts.users} users`, amounts.users * 2, () =>
  inParallel(numbers(amounts.users), width, async (at) => {
    const userName = `user-${at}@example.com`
    await scim('GET', `/Users?${filter(`userName eq "${userName}"`)}`)
    const body = { userName, externalId: `x-${at}`, active: true, name: { givenName: 'User', familyName: String(at) } }
    users[at] = (await scim<Resource>('POST', '/Users', body)).id
  }),
)
await timed(`full: look for and add ${amounts.groups} groups of ${amounts.membersOfGroup}`, amounts.groups * 2, () =>
  inParallel(numbers(amounts.groups), width, async (at) => {
    await scim('GET', `/Groups?excludedAttributes=members&${filter(`displayName eq "Group ${at}"`)}`)
    const members = numbers(amounts.membersOfGroup).map((place) => ({ value: users[(at * 10 + place) % amounts.users] }))
    groups[at] = (await scim<Resource>('POST', '/Groups', { displayName: `Group ${at}`, members })).id
  }),
)
await timed(`full: one group of ${amounts.users} that gives a place in a workspace`, 1, async () => {
  await scim('POST', '/Groups?attributes=id', { displayName: 'ws-Default-role-member', members: users.map((value) => ({ value })) })
})
await timed('read all users, pages of 100', amounts.pages, () =>
  inParallel(numbers(amounts.pages), 1, (at) => scim('GET', `/Users?startIndex=${at * 100 + 1}&count=100`)),
)
await timed(`delta: look for and change ${amounts.changedUsers} users`, amounts.changedUsers * 2, () =>
  inParallel(numbers(amounts.changedUsers), width, async (at) => {
    await scim('GET', `/Users?${filter(`externalId eq "x-${at}"`)}`)
    await scim('PATCH', `/Users/${users[at]}`, patch({ op: 'Replace', path: 'title', value: 'Changed' }))
  }),
)
await timed(`delta: add and remove a member of ${amounts.changedGroups} groups`, amounts.changedGroups * 2, () =>
  inParallel(numbers(amounts.changedGroups), width, async (at) => {
    await scim(
      'PATCH',
      `/Groups/${groups[at]}?excludedAttributes=members`,
      patch({ op: 'Add', path: 'members', value: [{ value: stranger(at) }] }),
    )
    await scim(
      'PATCH',
      `/Groups/${groups[at]}?excludedAttributes=members`,
      patch({ op: 'Remove', path: `members[value eq "${stranger(at)}"]` }),
    )
  }),
)
await timed(`delta: add and remove a member of the group of ${amounts.users}`, 2, async () => {
  const { Resources } = await scim<{ Resources: Resource[] }>(
    'GET',
    `/Groups?excludedAttributes=members&${filter('displayName eq "ws-Default-role-member"')}`,
  )
  const path = `/Groups/${Resources[0]?.id}?excludedAttributes=members`
  await scim('PATCH', path, patch({ op: 'Remove', path: `members[value eq "${users[1]}"]` }))
  await scim('PATCH', path, patch({ op: 'Add', path: 'members', value: [{ value: users[1] }] }))
})
await timed(`delta: deactivate ${amounts.removedUsers} users`, amounts.removedUsers, () =>
  inParallel(numbers(amounts.removedUsers), width, (at) =>
    scim('PATCH', `/Users/${users[amounts.users - amounts.removedUsers + at]}`, patch({ op: 'Replace', path: 'active', value: 'False' })),
  ),
)
await timed('a filter without an index', 1, () =>
  scim('GET', `/Users?count=1&${filter('name.familyName co "99" and emails.value ew "example.com"')}`),
)

await gatehouse.stop()
await server.stop()
rmSync(folder, { recursive: true, force: true })
