import test from 'ava'
import fc from 'fast-check'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { addPerson, browse, signIn, type Browser } from '../../support/people.ts'
import { readDescription, type Description, type Operation } from '../../support/walk/document.ts'
import { faultsOf, wrongValues } from '../../support/walk/faults.ts'
import { valuesOf } from '../../support/walk/values.ts'

/** The walk of wrong inputs through the operations at the root, which people ask by their session: a key opens none of them. */
let app: TestApp
let browser: Browser
let description: Description

test.before(async () => {
  app = await startApp({ env: { FAILED_CREDENTIALS_PER_MINUTE: '0' } })
  browser = await signIn(app, await addPerson(app, { role: 'owner' }))
  description = readDescription((await send(`${app.baseUrl}/openapi.json`)).text, 'at the root')
})
test.after.always(() => app?.stop())

const pathOf = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, 'x')

const isError = ({ text }: RawAnswer) => /"message":"./.test(text) && /"param":/.test(text) && /"request_id":"./.test(text)

const visit = (operation: Operation, more: { readonly query?: string; readonly body?: unknown } = {}): Promise<RawAnswer> =>
  browse(app, browser, {
    method: operation.method,
    path: `${pathOf(operation)}${more.query ?? ''}`,
    ...('body' in more && { body: more.body }),
  })

test.serial('the description has every operation at the root', (t) => {
  const served = features.flatMap(({ routes }) => routes.filter(({ below }) => below === '/'))
  t.deepEqual(
    description.operations.map(({ name }) => name).toSorted(),
    served.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).toSorted(),
  )
})

test.serial('a wrong field is a 400 that names it', async (t) => {
  const findings: string[] = []
  let tried = 0
  const { operations, resolve } = description
  for (const operation of operations) {
    const { body, name } = operation
    if (body === null) continue
    const [good] = fc.sample(valuesOf(body, { resolve, references: [], minimal: true }), { numRuns: 1, seed: 20_261_127 })
    for (const { field, what, value } of faultsOf(body, good, resolve)) {
      const answer = await visit(operation, { body: value })
      if (answer.status !== 400 || !answer.text.includes(field) || !isError(answer))
        findings.push(`${name}: ${field} ${what} -> ${answer.status} ${answer.text.slice(0, 300)}`)
      tried += 1
    }
    for (const odd of [[], null, 'text', { ['__proto__']: 1 }, { constructor: 1 }]) {
      const answer = await visit(operation, { body: odd })
      if (answer.status >= 500 || answer.status < 400) findings.push(`${name}: ${JSON.stringify(odd)} -> ${answer.status}`)
    }
  }
  t.deepEqual(findings, [])
  t.true(tried > 80, `${tried}`)
})

test.serial('a wrong parameter is a 400 that names it', async (t) => {
  const findings: string[] = []
  let tried = 0
  for (const operation of description.operations)
    for (const { name, schema } of operation.query)
      for (const [what, value] of wrongValues(schema, description.resolve)) {
        if (typeof value !== 'string' || (value === '' && what !== 'too short') || what === 'a string') continue
        const answer = await visit(operation, { query: `?${name}=${encodeURIComponent(value)}` })
        if (answer.status !== 400 || !answer.text.includes(name)) findings.push(`${operation.name}: ${name} ${what} -> ${answer.status}`)
        tried += 1
      }
  t.deepEqual(findings, [])
  t.true(tried > 5, `${tried}`)
})

test.serial('a key opens none of them, and no answer is a fault of the server', async (t) => {
  const findings: string[] = []
  for (const operation of description.operations) {
    const answer = await send(`${app.baseUrl}${pathOf(operation)}`, {
      method: operation.method,
      headers: { 'x-service-api-key': app.adminKey, ...(operation.body !== null && { 'content-type': 'application/json' }) },
      ...(operation.body !== null && { body: '{}' }),
    })
    const isOpen = ['GET /auth/login', 'GET /auth/setup'].includes(operation.name)
    if (answer.status >= 500 || (answer.status < 400 && !isOpen)) findings.push(`${operation.name} -> ${answer.status} ${answer.text}`)
  }
  t.deepEqual(findings, [])
})
