import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { send } from '../../support/http.ts'
import { browse, signIn } from '../../support/people.ts'
import { accessSettings } from '../../../src/lib/access/access-settings.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { type Asked, type Callers, type Letter, letters, people, startCallers } from './callers.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/** The entry of one operation in the reviewed file. */
interface Row {
  readonly method: string
  readonly path: string
  /** For each caller: always, never, or the settings of which one must be on, as `a|b`. */
  readonly access: Readonly<Record<string, boolean | string>>
}

const matrix = readFileSync(join(import.meta.dirname, '../../golden/permissions.txt'), 'utf8')
const rows = matrix.split('\n').flatMap((line) => {
  const [, method, path = '', services = '', keys = '', tokens = '', sessions = '', deciding = ''] =
    /^(GET|POST|PUT|DELETE) (\S+) +([+-]{2}) (\S{5}) (\S{5}) (\S{5}) \S+((?: \S+)*)$/.exec(line) ?? []
  return method === undefined ? [] : [{ method, path, access: accessOf({ services, keys, tokens, sessions, deciding }) } satisfies Row]
})

function accessOf({
  services,
  keys,
  tokens,
  sessions,
  deciding,
}: Readonly<Record<'services' | 'keys' | 'tokens' | 'sessions' | 'deciding', string>>): Row['access'] {
  const cell = (letter: Letter, mark: string | undefined): boolean | string => {
    if (mark === '?') return new RegExp(` ${letter}:([\\w|]+)`).exec(deciding)?.[1] ?? 'no setting is named'
    if (mark !== '-' && mark !== letter) throw new Error(`what is ${String(mark)}?`)
    return mark === letter
  }
  return {
    'admin key': services[0] === '+',
    'workspace key': services[1] === '+',
    ...Object.fromEntries(letters.map((letter, at) => [`key of the ${people[letter]}`, cell(letter, keys[at])])),
    ...Object.fromEntries(letters.map((letter, at) => [`token of the ${people[letter]}`, cell(letter, tokens[at])])),
    ...Object.fromEntries(letters.map((letter, at) => [`session of the ${people[letter]}`, cell(letter, sessions[at])])),
  }
}

/** Operations that need no credential. */
const open = matrix.split('\n').flatMap((line) => {
  const [, method, path] = /^(GET|POST|PUT|DELETE) (\S+)$/.exec(line) ?? []
  return method === undefined || path === undefined ? [] : [{ method, path }]
})

let control: Control
let acme: Tenant
let callers: Callers

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  callers = await startCallers(control, acme)
})
test.after.always(() => control?.close())

const settings = Object.keys(accessSettings)

/** Sets them all at once. */
async function set(value: (name: string) => boolean): Promise<void> {
  const wanted = Object.fromEntries(settings.map((name) => [name, value(name)]))
  const answer = await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: wanted })
  if (answer.status !== 200) throw new Error(answer.text)
  await control.refresh()
}

/** The credential itself is not enough; other faults of the request come after it. */
const refusal =
  /which this request needs|This needs an organisation key|The token is not accepted: (?:it lacks|it claims|a token reads)|lacks the scope completions\.write|This request needs it|Only owners and admins of the organisation/

/** That the route, or the data plane, does not take this kind of credential. */
const otherKind = /There is no session here|No API key/

/** A request that would be let in and then do nothing: it names a missing resource, and its body is unknown. */
async function isLetIn({ method, path }: Row, caller: string): Promise<boolean> {
  const url = path.replace('{type}/{subType}', 'workspace/service').replaceAll(/\{\w+\}/g, randomUUID())
  const asked = method === 'GET' ? `${url}?page_size=none` : url
  const { status, text } = await ask(caller, { method, path: asked, ...(method !== 'GET' && { body: { no_such_field: 1 } }) })
  if ((status === 403 && refusal.test(text)) || (status === 401 && otherKind.test(text))) return false
  if (status === 401 || status === 403 || status >= 500) throw new Error(`${caller}: ${method} ${path}: ${status} ${text}`)
  return true
}

/** People's actions on their own session happen in a browser that is theirs alone. */
async function ask(caller: string, request: Asked): ReturnType<Callers['ask']> {
  const { person } = callers.browsers.get(caller) ?? {}
  if (person === undefined || !request.path.startsWith('/auth/')) return callers.ask(caller, request)
  const own = await control.createUser(acme, { email: `${randomUUID()}@acme.example`, role: person.role })
  return browse({ baseUrl: control.origin }, await signIn(control.started, { ...person, id: own }), request)
}

type Cell = readonly [row: Row, caller: string, expected: boolean]

/** The cells in which the product and the file differ. */
async function different(cells: readonly Cell[]): Promise<string[]> {
  const found: string[] = []
  await inParallel(cells, 6, async ([row, caller, expected]) => {
    if ((await isLetIn(row, caller)) !== expected) found.push(`${row.method} ${row.path}: ${caller} is ${expected ? 'refused' : 'let in'}`)
  })
  return found
}

const cells = rows.flatMap((row) => Object.entries(row.access).map(([caller, access]) => ({ row, caller, access })))
const constant = (wanted: boolean): Cell[] =>
  cells.filter(({ access }) => access === wanted).map(({ row, caller }) => [row, caller, wanted] as const)
const decidedBy = (deciding: string, expected: boolean): Cell[] =>
  cells.filter(({ access }) => access === deciding).map(({ row, caller }) => [row, caller, expected] as const)

test.serial('the file has a cell for every operation and caller', (t) => {
  t.true(rows.length > 90, String(rows.length))
  t.is(cells.length, rows.length * 17)
  const unknown = cells.filter(({ access }) => typeof access === 'string' && !access.split('|').every((name) => settings.includes(name)))
  t.deepEqual(unknown, [])
})

test.serial('whoever may always may with every setting off', async (t) => {
  await set(() => false)
  t.deepEqual(await different(constant(true)), [])
})

test.serial('whoever may never may not with every setting on', async (t) => {
  await set((name) => name !== 'block_inline_config')
  t.deepEqual(await different(constant(false)), [])
})

const noCredential = /There is no session here|No API key/

test.serial('without a credential people may show who they are, and do nothing else', async (t) => {
  t.true(open.length > 10, String(open.length))
  const differing: string[] = []
  const check = async ({ method, path }: Pick<Row, 'method' | 'path'>, isOpen: boolean) => {
    const url = `${control.origin}${path.replace('{type}/{subType}', 'workspace/service').replaceAll(/\{\w+\}/g, randomUUID())}`
    const body = method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: '{"no_such_field":1}' }
    const { status, text } = await send(url, { method, ...body })
    if (status >= 500 || (status === 401 && noCredential.test(text)) === isOpen) differing.push(`${method} ${path}: ${status} ${text}`)
  }
  await inParallel([...open.map((row) => [row, true] as const), ...rows.map((row) => [row, false] as const)], 6, ([row, isOpen]) =>
    check(row, isOpen),
  )
  t.deepEqual(differing, [])
})

const deciding = [...new Set(cells.flatMap(({ access }) => (typeof access === 'string' ? [access] : [])))]

for (const names of deciding)
  test.serial(`${names} alone decides where the file names it`, async (t) => {
    const either = names.split('|')
    for (const setting of either) {
      await set((name) => name === setting)
      t.deepEqual(await different(decidedBy(names, true)), [])
    }
    await set((name) => !either.includes(name))
    t.deepEqual(await different(decidedBy(names, false)), [])
  })
