import { Agent } from 'node:http'
import { userScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { startIssuer } from '../../support/issuer.ts'
import { browse, signIn, type Browser, type TestPerson } from '../../support/people.ts'
import type { Control, Tenant } from './setup.ts'

/** A person of each role; the last three have it in the workspace `main`. */
export const people = { O: 'owner', A: 'organisation admin', a: 'admin', g: 'manager', m: 'member' } as const
export type Letter = keyof typeof people
export const letters = Object.keys(people) as Letter[]

const places = { O: ['owner'], A: ['admin'], a: ['member', 'admin'], g: ['member', 'manager'], m: ['member', 'member'] } as const

export interface Asked {
  readonly method: string
  /** From the root: `/v1/configs`. */
  readonly path: string
  readonly body?: unknown
}

/** All kinds of callers: service keys, and people by a key with every scope, by a token, and signed in. */
export interface Callers {
  readonly persons: ReadonlyMap<Letter, TestPerson>
  /** By their names, such as `admin key` and `token of the manager`. */
  readonly keys: ReadonlyMap<string, string>
  readonly browsers: ReadonlyMap<string, { readonly person: TestPerson; readonly browser: Browser }>
  ask(caller: string, asked: Asked): Promise<Pick<RawAnswer, 'status' | 'text'>>
}

/** Makes one of each, in an organisation that then takes tokens. */
export async function startCallers(control: Control, acme: Tenant): Promise<Callers> {
  const issuer = await startIssuer()
  const jwt = { jwks: { keys: issuer.jwks.keys.filter(({ kid }) => kid === 'EdDSA') } }
  const stored = await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { jwt } })
  if (stored.status !== 200) throw new Error(stored.text)
  // As if an owner had set it, so that it speaks for owners too.
  await control.sql.query(`UPDATE organisations SET token_issuer_rank = 'owner' WHERE id = $1`, [acme.organisationId])
  const keys = new Map([
    ['admin key', acme.adminKey],
    ['workspace key', acme.workspaceKey],
  ])
  const persons = new Map<Letter, TestPerson>()
  const browsers = new Map<string, { readonly person: TestPerson; readonly browser: Browser }>()
  for (const letter of letters) {
    const [role, place] = places[letter]
    const email = `${letter === 'A' ? 'organisation-admin' : people[letter]}@acme.example`
    const workspaces = place === undefined ? {} : { [acme.workspaceId]: place }
    const userId = await control.createUser(acme, { email, role, workspaces })
    const person = { id: userId, organisationId: acme.organisationId, email, role }
    persons.set(letter, person)
    browsers.set(`session of the ${people[letter]}`, { person, browser: await signIn(control.started, person) })
    keys.set(`key of the ${people[letter]}`, await control.createKey(acme, { workspaceId: acme.workspaceId, userId, scopes: userScopes }))
    const claims = { organisation_id: acme.organisationId, workspace_slug: 'main', email_id: email, exp: Date.now() / 1000 + 3600 }
    keys.set(`token of the ${people[letter]}`, issuer.sign({ ...claims, scopes: workspaceScopes }, { alg: 'EdDSA' }))
  }
  issuer.close()
  await control.refresh()
  // Thousands of questions, none of which is about its connection.
  const agent = new Agent({ keepAlive: true })
  return {
    persons,
    keys,
    browsers,
    ask(caller, { method, path, body }) {
      const found = browsers.get(caller)
      if (found !== undefined) return browse({ baseUrl: control.origin }, found.browser, { method, path, body, agent })
      const headers = {
        'x-service-api-key': keys.get(caller) ?? '',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      }
      return send(`${control.origin}${path}`, { method, headers, agent, ...(body !== undefined && { body: JSON.stringify(body) }) })
    },
  }
}
