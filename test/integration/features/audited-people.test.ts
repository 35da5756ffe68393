import test from 'ava'
import { callersOf, changesThings, wholePath, type Route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { inDatabase } from '../../support/database.ts'
import { differences, type Example } from '../../support/examples/story.ts'
import { keyFor, type Listener, readExamples, startListener } from '../../support/examples/tell.ts'
import { addPerson, browse, type Browser, signIn, type TestPerson } from '../../support/people.ts'
import { controlRoutes } from '../../support/routes.ts'

const nameOf = (route: Route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`

/** The requests of people by session, by the names of examples. */
const bySession = new Map(
  controlRoutes
    .filter((route) => route.identify === undefined && callersOf(route).includes('session'))
    .map((route) => [nameOf(route), route]),
)

let listener: Listener
let owner: TestPerson
let browser: Browser
/** The workspace of the keys of the first start. */
let workspaceId: string

/** Owners act in the whole organisation, or in the workspace that they name. */
function showPerson(example: Example): Readonly<Record<string, string>> {
  const method = example.operation.split(' ')[0]
  const inWorkspace = keyFor(listener.app, example)['x-service-api-key'] === listener.app.workspaceKey
  return {
    cookie: browser.cookie,
    'sec-fetch-site': 'same-origin',
    ...(method !== 'GET' && { origin: 'https://gateway.example', 'x-csrf-token': browser.csrf }),
    ...(inWorkspace && { 'x-service-workspace': workspaceId }),
  }
}

test.before(async () => {
  listener = await startListener((app, example) =>
    bySession.has(example.operation) && example.as !== 'nobody' ? showPerson(example) : keyFor(app, example),
  )
  owner = await addPerson(listener.app, { email: 'owner@example.com', role: 'owner' })
  browser = await signIn(listener.app, owner)
  const { text } = await browse({ baseUrl: listener.app.baseUrl }, browser, { path: '/v1/admin/workspaces' })
  workspaceId = (JSON.parse(text) as { data: readonly { id: string }[] }).data[0]?.id ?? ''
})
test.after.always(() => listener?.stop())

interface Row {
  readonly actor_type: string
  readonly actor_id: string
  readonly user_id: string
  readonly actor_name: string
  readonly method: string
  readonly uri: string
}

/** Takes the rows of the trail since it was last asked. */
function trail(): () => Promise<readonly Row[]> {
  let last = 0
  return () =>
    inDatabase(listener.app.database.superuser, async (client) => {
      const { rows } = await client.query<Row & { seq: string }>('SELECT * FROM audit_logs WHERE seq > $1 ORDER BY seq', [last])
      last = Number(rows.at(-1)?.seq ?? last)
      return rows
    })
}

const personal = (row: Row | undefined) => [row?.actor_type, row?.actor_id, row?.user_id, row?.actor_name]

test.serial('every write that a person does by session leaves one row, with the person', async (t) => {
  const wrong: string[] = []
  const done = new Set<string>()
  const next = trail()
  await next()
  for (const example of readExamples()) {
    const route = bySession.get(example.operation)
    const { status, answer } = await listener.tell(example)
    // Resources of this run are called by its own names from here on.
    differences(example.answer, answer, listener.names)
    if (status !== 200) wrong.push(`${example.operation}: ${status} ${JSON.stringify(answer)}`)
    const all = await next()
    if (route === undefined) continue
    // A story may do more than its example shows, such as start the export that is downloaded.
    const rows = all.filter(({ method }) => method === route.method)
    const expected = changesThings(route) ? 1 : 0
    if (rows.length !== expected) wrong.push(`${example.operation}: ${rows.length} rows`)
    for (const row of rows)
      if (personal(row).join() !== ['user', owner.id, owner.id, owner.email].join())
        wrong.push(`${example.operation}: ${personal(row).join()}`)
    done.add(example.operation)
  }
  t.deepEqual(wrong, [])
  t.deepEqual(
    [...bySession.keys()].filter((name) => !done.has(name)),
    [],
  )
})

/** The actions of people on their own sign-in, each in a browser of its own. */
const own: Readonly<Record<string, { readonly body?: unknown; readonly id?: (browser: Browser) => string }>> = {
  'POST /auth/password': { body: { password: 'correct horse battery staple' } },
  'DELETE /auth/sessions/:sessionId': { id: ({ sessionId }) => sessionId },
  'DELETE /auth/sessions': {},
  'PUT /auth/me/preferences': { body: { preferences: { theme: 'dark' } } },
  'POST /auth/logout': {},
}
const ownRoutes = features.flatMap(({ routes }) => routes).filter((route) => route.below === '/' && changesThings(route))

for (const [name, { body, id }] of Object.entries(own))
  test.serial(`${name} leaves a row with the person`, async (t) => {
    const route = ownRoutes.find((one) => `${one.method} ${wholePath(one)}` === name)
    const [person, next] = [await addPerson(listener.app), trail()]
    const mine = await signIn(listener.app, person)
    await next()
    const path = (route?.path ?? '').replace(/:\w+/, id?.(mine) ?? '')
    const { status, text } = await browse({ baseUrl: listener.app.baseUrl }, mine, {
      method: route?.method ?? '',
      path,
      body,
      headers: { origin: 'https://gateway.example' },
    })
    t.is(status, 200, text)
    t.deepEqual((await next()).map(personal), [['user', person.id, person.id, person.email]])
  })
