import { organisationScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { startApp } from '../app.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { type RawAnswer, send } from '../http.ts'
import { adminKey } from '../process.ts'
import { type Company, createCompany, type Department } from '../tenants.ts'
import { type Description, type Operation, readDescription } from './document.ts'
import { urlsOf } from './things.ts'

/** A request; without a key where that is null. */
export interface Visit {
  readonly key: string | null
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** A value that is sent as it is, in place of a body. */
  readonly raw?: string
}

/** The faults so far in one test: none, when it ends well. */
export type Findings = string[]

/** Two organisations in one app, both with one of every resource, and the app's description of its operations. */
export interface Walk {
  readonly description: Description
  readonly acme: Company
  readonly rival: Company
  /** Sends a request, and notes forbidden answers: a fault of the server, an error without its shape, a 400 without a field, a stranger's id. */
  visit(findings: Findings, visit: Visit): Promise<RawAnswer>
  stop(): Promise<void>
}

/** Starts the app with both organisations. */
export async function startWalk(): Promise<Walk> {
  const emulator = await startEmulator()
  const app = await startApp({ env: { INIT_ADMIN_API_KEY: adminKey, LOG_LEVEL: 'warn' } })
  const gatehouse = { origin: app.baseUrl, superuser: app.database.superuser }
  const [acme, rival] = [
    await createCompany({ gatehouse, providerUrl: emulator.url }, 'acme'),
    await createCompany({ gatehouse, providerUrl: emulator.url }, 'rival'),
  ]
  const description = readDescription((await send(`${app.baseUrl}/openapi.json`)).text)
  const origin = `${app.baseUrl}/v1`
  const [own, others] = [await identifiersOf(origin, description, acme), await identifiersOf(origin, description, rival)]
  const hidden = new Map<string | null, ReadonlySet<string>>([[null, own.union(others)]])
  for (const { company, secrets } of [
    { company: rival, secrets: own.difference(others) },
    { company: acme, secrets: others.difference(own) },
  ])
    for (const key of [company.adminKey, company.main.key, company.side.key]) hidden.set(key, secrets)
  const told = new Set<string>()
  return {
    description,
    acme,
    rival,
    async visit(findings, visit) {
      const sent = visit.raw ?? (visit.body === undefined ? '' : JSON.stringify(visit.body))
      const answer = await ask(origin, visit, sent)
      const secrets = hidden.get(visit.key) ?? new Set()
      // A value that a caller has sent may be returned to it.
      for (const id of secrets) if (visit.path.includes(id) || sent.includes(id)) told.add(id)
      const leaked = [...secrets].filter((id) => answer.text.includes(id) && !told.has(id)).map((id) => `leak of ${id}`)
      for (const fault of [...faultsOf(answer), ...leaked]) findings.push(`${fault}: ${sayOf(visit, sent)} -> ${answer.text.slice(0, 400)}`)
      return answer
    },
    async stop() {
      await app.stop()
      await emulator.stop()
    },
  }
}

const sayOf = ({ method, path }: Visit, sent: string) => `${method} ${path.slice(0, 300)} ${sent.slice(0, 300)}`

const ask = (origin: string, { key, method, path }: Visit, sent: string): Promise<RawAnswer> =>
  send(`${origin}${path}`, {
    method,
    headers: { ...(key !== null && { 'x-service-api-key': key }), ...(sent !== '' && { 'content-type': 'application/json' }) },
    ...(sent !== '' && { body: sent }),
  })

/** That a provider cannot be reached, at an address which a visit stored, is no fault of the server. */
const faultsOf = ({ status, text }: RawAnswer): readonly string[] => [
  ...(status >= 500 && !text.includes('"code":"upstream_unreachable"') ? [`fault ${status}`] : []),
  ...(status >= 400 && !isError(text) ? [`not the shape of an error (${status})`] : []),
  ...(status === 400 && !/"param":"./.test(text) ? ['names no field'] : []),
]

function isError(text: string): boolean {
  const { error } = JSON.parse(text) as { error?: Record<string, unknown> }
  const texts = ['message', 'type', 'code', 'request_id'].map((field) => error?.[field])
  return texts.every((value) => typeof value === 'string' && value !== '') && error?.['param'] !== undefined
}

/** Those of a company's keys that have a scope which the operation asks for; first the one that it is made for. */
export function keysOf({ scopes, path }: Operation, { adminKey: admin }: Company, { key }: Department): readonly [string, ...string[]] {
  const has = (own: readonly string[]) => scopes.length === 0 || scopes.some((scope) => own.includes(scope))
  if (!has(workspaceScopes)) return [admin]
  if (!has(organisationScopes)) return [key]
  return path.startsWith('/admin/') ? [admin, key] : [key, admin]
}

/** All ids that a company's own keys are shown, and its name, by which its things are called. */
async function identifiersOf(origin: string, { operations }: Description, company: Company): Promise<ReadonlySet<string>> {
  const found = new Set<string>([company.slug])
  for (const operation of operations.filter(({ method }) => method === 'GET'))
    for (const department of [company.main, company.side])
      for (const path of urlsOf(operation, department)) {
        const { status, text } = await ask(origin, { key: keysOf(operation, company, department)[0], method: 'GET', path }, '')
        if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
        for (const [id] of text.matchAll(uuid)) found.add(id)
      }
  return found
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
