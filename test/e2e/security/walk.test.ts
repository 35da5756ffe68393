import { randomUUID } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { adminKey } from '../../support/process.ts'
import { controlRoutes } from '../../support/routes.ts'
import type { Company } from '../../support/tenants.ts'
import type { Description, Operation, Parameter } from '../../support/walk/document.ts'
import { faultsOf, wrongValues } from '../../support/walk/faults.ts'
import { childOf, isOnOne, neededOf, nounOf, pathsOf, pathTo, urlsOf } from '../../support/walk/things.ts'
import { valuesOf } from '../../support/walk/values.ts'
import { type Findings, keysOf, startWalk, type Walk } from '../../support/walk/walk.ts'

/** How many requests an operation gets of each kind. */
const bounds = { valid: 3, wrong: 9, queries: 2, names: 3 }
const seed = 20_261_121

let walk: Walk
let description: Description
let acme: Company
let rival: Company

test.before(async () => {
  walk = await startWalk()
  ;({ description, acme, rival } = walk)
})
test.after.always(() => walk?.stop())

const sample = <T>(values: fc.Arbitrary<T>, numRuns: number): readonly T[] => fc.sample(values, { numRuns, seed })
/** A bounded number of them, the same in each run. */
const some = <T>(all: readonly T[], most: number): readonly T[] =>
  all.length <= most ? all : (sample(fc.shuffledSubarray([...all], { minLength: most, maxLength: most }), 1)[0] ?? [])

const queryOf = (fields: Readonly<Record<string, unknown>>) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed())}`)
    .join('&')

const referencesOf = ({ main, side }: Company) => [main, side].flatMap(({ things }) => Object.values(things).flat())

test.serial('the description has every operation that is served', (t) => {
  const served = controlRoutes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  t.deepEqual(description.operations.map(({ name }) => name).toSorted(), served.toSorted())
})

test.serial('no key, and one that nobody has, is 401; the wrong method is 405', async (t) => {
  const findings: Findings = []
  for (const operation of description.operations) {
    const [path = ''] = pathsOf(operation, acme.main)
    for (const key of operation.scopes.length === 0 ? [] : [null, 'gh-nobody-has-this-key-0000000000000']) {
      const { status, text } = await walk.visit(findings, {
        key,
        method: operation.method,
        path,
        ...(operation.body !== null && { body: {} }),
      })
      if (status !== 401) findings.push(`without a key: ${operation.name} -> ${status} ${text}`)
    }
  }
  for (const path of new Set(description.operations.map((operation) => operation.path))) {
    const alike = description.operations.filter((operation) => operation.path === path)
    const [operation] = alike
    if (operation === undefined) continue
    const [place = ''] = pathsOf(operation, acme.main)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      if (alike.some((other) => other.method === method) || servedElsewhere(method, place)) continue
      const answer = await walk.visit(findings, { key: acme.adminKey, method, path: place })
      if (![404, 405].includes(answer.status)) findings.push(`wrong method: ${method} ${place} -> ${answer.status} ${answer.text}`)
      if (answer.status === 405 && answer.headers.allow === undefined) findings.push(`405 without allow: ${method} ${place}`)
    }
  }
  t.deepEqual(findings, [])
})

/** Whether a method of this path is served under another template, e.g. `/prompts/partials` under `/prompts/{promptId}`. */
const servedElsewhere = (wanted: string, place: string) =>
  description.operations.some(
    ({ method, path }) => method === wanted && new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(place),
  )

test.serial('a key without the scope is 403', async (t) => {
  const findings: Findings = []
  const [lists, policies] = [await keyWith('logs.list'), await keyWith('policies.list')]
  for (const { method, path, scopes, name, body } of description.operations) {
    if (scopes.length === 0) continue
    const key = scopes.includes('logs.list') ? policies : lists
    const { status, text } = await walk.visit(findings, {
      key,
      method,
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      ...(body !== null && { body: {} }),
    })
    if (status !== 403 || !text.includes('"AB03"')) findings.push(`${name} -> ${status} ${text}`)
  }
  t.deepEqual(findings, [])
})

async function keyWith(scope: string): Promise<string> {
  const { text } = await walk.visit([], {
    key: adminKey,
    method: 'POST',
    path: '/api-keys/workspace/service',
    body: { name: scope, scopes: [scope] },
  })
  return (JSON.parse(text) as { key: string }).key
}

/** A valid request for a resource of another tenant, so that only the tenant can be the reason of a refusal. */
const bodyOf = ({ body }: Operation, references: readonly string[]) =>
  body === null ? {} : { body: sample(valuesOf(body, { resolve: description.resolve, references, minimal: true }), 1)[0] }

test.serial('another tenant’s key finds nothing, and learns nothing', async (t) => {
  const findings: Findings = []
  for (const operation of description.operations)
    for (const key of keysOf(operation, rival, rival.main)) {
      const { method } = operation
      const alien = async (path: string) => {
        const { status, text } = await walk.visit(findings, { key, method, path, ...bodyOf(operation, referencesOf(acme)) })
        // A body that is refused by a rule outside the schema is refused before any look-up.
        if (isOnOne(operation) ? ![400, 403, 404].includes(status) : status >= 500) findings.push(`${method} ${path} -> ${status} ${text}`)
      }
      for (const path of urlsOf(operation, acme.main)) await alien(path)
      if (isOnOne(operation) && operation.path.split('{').length > 2)
        for (const own of rival.main.things[nounOf(operation, rival.main.things)])
          await alien(pathTo(operation, own, await strangersChild(operation)))
    }
  t.deepEqual(findings, [])
})

/** A thing in a thing of acme, by its id. */
async function strangersChild(operation: Operation): Promise<string> {
  if (operation.path.includes('{name}')) return acme.main.things['mcp-integrations'][0] ?? ''
  if (!operation.path.includes('{versionId}')) return childOf(operation, acme.main.things)
  const { text } = await walk.visit([], { key: acme.main.key, method: 'GET', path: `/prompts/${acme.main.things.prompts[0]}/versions` })
  return (JSON.parse(text) as { data: readonly { id: string }[] }).data[0]?.id ?? ''
}

test.serial('a wrong field is a 400 that names it', async (t) => {
  const findings: Findings = []
  const { resolve } = description
  let tried = 0
  for (const operation of description.operations.filter(({ body }) => body !== null)) {
    const { method, body } = operation
    const [path = ''] = pathsOf(operation, rival.main)
    const [key] = keysOf(operation, rival, rival.main)
    const good = sample(valuesOf(body ?? {}, { resolve, references: referencesOf(rival), minimal: true }), 1)[0]
    for (const { field, what, value } of some(faultsOf(body ?? {}, good, resolve), bounds.wrong)) {
      const { status, text } = await walk.visit(findings, { key, method, path, body: value })
      if (status !== 400 || !text.includes(field))
        findings.push(`${operation.name}: ${field} ${what}: ${JSON.stringify(value).slice(0, 200)} -> ${status} ${text.slice(0, 500)}`)
      tried += 1
    }
    for (const raw of ['', '[]', 'null', '"text"', '{', '{"a":1}}', '\ud800', '{"__proto__":1}', '['.repeat(2000)])
      await walk.visit(findings, { key, method, path, raw })
  }
  t.deepEqual(findings, [])
  t.true(tried > 300, `${tried}`)
})

/** A parameter that has two names may be called by either: `pageSize`, `page_size`. */
const plain = (text: string) => text.replaceAll('_', '').toLowerCase()

test.serial('a query is answered or its wrong parameter named', async (t) => {
  const findings: Findings = []
  const { resolve } = description
  for (const operation of description.operations.filter(({ query }) => query.length > 0)) {
    const { method, name: title, query } = operation
    const [key] = keysOf(operation, rival, rival.main)
    const [path = ''] = pathsOf(operation, rival.main)
    const values = query.map(({ name, schema }) => [name, valuesOf(schema, { resolve, references: referencesOf(rival) })] as const)
    for (const asked of sample(fc.record(Object.fromEntries(values), { requiredKeys: [] }), bounds.queries))
      await walk.visit(findings, { key, method, path: `${path}?${queryOf({ ...asked, ...neededOf(operation) })}` })
    for (const parameter of query)
      for (const [what, value] of wrongTexts(parameter)) {
        const { name } = parameter
        const { status, text } = await walk.visit(findings, {
          key,
          method,
          path: `${path}?${queryOf({ ...neededOf(operation), [name]: value })}`,
        })
        if (status !== 400 || !plain(text).includes(plain(name))) findings.push(`${title}: ${name} ${what} -> ${status} ${text}`)
      }
  }
  t.deepEqual(findings, [])
})

/** Values that are wrong even as a text, the form of all query values. */
const wrongTexts = ({ schema }: Parameter) =>
  wrongValues(schema, description.resolve).filter(([, wrong]) =>
    [description.resolve(schema)['type']].flat().includes('string')
      ? typeof wrong === 'string' && wrong !== ''
      : typeof wrong === 'number' || wrong === 'text',
  )

/** A name that no resource has; an id in capitals is the same id. */
const oddNames = [
  '%00',
  '%FF',
  '%ED%A0%80',
  '..%2f..',
  "'",
  '%25',
  '__proto__',
  'constructor',
  'a'.repeat(3000),
  '-1',
  '9'.repeat(20),
  randomUUID().toUpperCase(),
]

test.serial('a path that names nothing is refused', async (t) => {
  const findings: Findings = []
  for (const [at, operation] of description.operations.filter(isOnOne).entries()) {
    const { method, path: template } = operation
    const [key] = keysOf(operation, rival, rival.main)
    const [own = ''] = rival.main.things[nounOf(operation, rival.main.things)]
    for (const odd of Array.from({ length: bounds.names }, (_, next) => oddNames[(at * bounds.names + next) % oddNames.length] ?? ''))
      for (const parts of [[odd, odd], ...(template.split('{').length > 2 ? [[own, odd]] : [])]) {
        const path = parts.reduce((part, name) => part.replace(/\{\w+\}/, () => name), template)
        const { status, text } = await walk.visit(findings, { key, method, path, ...bodyOf(operation, []) })
        if (status < 400) findings.push(`${method} ${path.slice(0, 200)} -> ${status} ${text.slice(0, 300)}`)
      }
  }
  t.deepEqual(findings, [])
})

test.serial('what a schema allows is never a fault of the server', async (t) => {
  const findings: Findings = []
  const statuses = new Map<number, number>()
  for (const operation of description.operations.filter(({ method }) => method !== 'GET' && method !== 'DELETE')) {
    const references = [...referencesOf(rival), ...some(referencesOf(acme), 10)]
    const values = sample(valuesOf(operation.body ?? {}, { resolve: description.resolve, references }), bounds.valid)
    const keys = keysOf(operation, rival, rival.side)
    const paths = pathsOf(operation, rival.side)
    for (const [at, body] of values.entries()) {
      const answer = await walk.visit(findings, {
        key: keys[at % keys.length] ?? null,
        method: operation.method,
        path: paths[at % paths.length] ?? '',
        body,
      })
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    }
  }
  t.deepEqual(findings, [])
  t.log(Object.fromEntries(statuses))
  t.true((statuses.get(200) ?? 0) > 40)
})

/** Resources that stay readable, and show that they ended; and operations that bring them back. */
const ends = new Set(['/admin/users/invites/{inviteId}'])
const restores = /\/restore$/

/** Deletes one of each, by its id, those that others depend on after them. */
async function removeAll(findings: Findings, operations: readonly Operation[]): Promise<void> {
  const { things } = acme.side
  const remove = async (operation: Operation) => {
    const path = pathTo(operation, things[nounOf(operation, things)][0] ?? '', childOf(operation, things))
    const { status, text } = await walk.visit(findings, {
      key: keysOf(operation, acme, acme.side)[0],
      method: 'DELETE',
      path,
      ...(operation.body !== null && { body: { force_delete: true } }),
    })
    // Resources that were deleted together with another one are gone already.
    if (![200, 404].includes(status) && !text.includes('"AB07"')) findings.push(`DELETE ${path} -> ${status} ${text}`)
    return status === 409 ? [operation] : []
  }
  let left = operations
  for (let round = 0; round < 5 && left.length > 0; round++) {
    const kept: Operation[] = []
    for (const operation of left) kept.push(...(await remove(operation)))
    left = kept
  }
  for (const { name } of left) findings.push(`${name}: cannot be deleted`)
}

const isHome = ({ path }: Operation) => path.startsWith('/admin/workspaces/')

test.serial('what is deleted is gone, for every operation', async (t) => {
  const findings: Findings = []
  const deletes = description.operations.filter(({ method, path }) => method === 'DELETE' && path.endsWith('}'))
  // A workspace takes all with it, and the key that asks.
  for (const gone of [deletes.filter((operation) => !isHome(operation)), deletes.filter(isHome).toReversed()]) {
    await removeAll(findings, gone)
    const below = description.operations.filter(
      ({ path }) => !restores.test(path) && gone.some((one) => path.startsWith(one.path) && !ends.has(one.path)),
    )
    for (const operation of below)
      for (const path of pathsOf(operation, acme.side)) {
        const { status, text } = await walk.visit(findings, {
          key: keysOf(operation, acme, acme.side)[0],
          method: operation.method,
          path: `${path}?${queryOf(Object.fromEntries(operation.query.filter(({ required }) => required).map(({ name }) => [name, 'x'])))}`,
          ...bodyOf(operation, acme.side.things.users),
        })
        if (status !== 404) findings.push(`${operation.method} ${path} -> ${status} ${text}`)
      }
  }
  t.deepEqual(findings, [])
})
