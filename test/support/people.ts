import { randomUUID } from 'node:crypto'
import type { Agent } from 'node:http'
import { inTenant } from '../../src/app/database/orm.ts'
import type { OrganisationRole, WorkspaceRole } from '../../src/lib/access/roles.ts'
import { csrfToken } from '../../src/features/sessions/secret.ts'
import { openSession, type SignIn } from '../../src/features/sessions/index.ts'
import { User } from '../../src/features/users/user.entity.ts'
import { WorkspaceMember } from '../../src/features/workspaces/workspace-member.entity.ts'
import { Workspace } from '../../src/features/workspaces/workspace.entity.ts'
import type { TestApp } from './app.ts'
import { send, type RawAnswer } from './http.ts'

/** A person in the organisation, or in another one. */
export interface PersonOptions {
  readonly organisationId?: string
  readonly email?: string
  readonly role?: OrganisationRole
  /** The roles in workspaces, by slug. */
  readonly places?: Readonly<Record<string, WorkspaceRole>>
}

export interface TestPerson {
  readonly id: string
  readonly organisationId: string
  readonly email: string
  readonly role: OrganisationRole
}

/** A browser in which a person is signed in. */
export interface Browser {
  readonly sessionId: string
  /** `name=value`. */
  readonly cookie: string
  readonly csrf: string
}

/** Makes a person as an invitation would. */
export async function addPerson({ deps }: Pick<TestApp, 'deps'>, options: PersonOptions = {}): Promise<TestPerson> {
  const organisationId = options.organisationId ?? (await firstOrganisation(deps))
  const { email = `${randomUUID()}@example.com`, role = 'member', places = {} } = options
  const id = await inTenant(deps.orm, organisationId, async (em) => {
    const user = em.create(User, { organisationId, email, role })
    await em.flush()
    for (const [slug, placeRole] of Object.entries(places)) {
      const { id: workspaceId } = await em.findOneOrFail(Workspace, { slug })
      em.create(WorkspaceMember, { organisationId, workspaceId, userId: user.id, role: placeRole })
    }
    return user.id
  })
  return { id, organisationId, email, role }
}

async function firstOrganisation({ orm }: TestApp['deps']): Promise<string> {
  const em = orm.em.fork({ session: { variables: { 'app.scope': 'system' } } })
  const [row] = await em.transactional((own) => own.execute<{ id: string }[]>('SELECT id FROM organisations ORDER BY created_at LIMIT 1'))
  if (row === undefined) throw new Error('there is no organisation')
  return row.id
}

/** Signs a person in without a password. */
export async function signIn({ deps }: Pick<TestApp, 'deps'>, person: TestPerson, more: Partial<SignIn> = {}): Promise<Browser> {
  const { session, cookie } = await inTenant(deps.orm, person.organisationId, (em) =>
    openSession(em, deps, { user: person, method: 'password', client: { address: '127.0.0.1', userAgent: 'test' }, ...more }),
  )
  return browserOf({ deps }, session.id, cookie)
}

/** Returns the browser that was given a `Set-Cookie`. */
export function browserOf({ deps }: Pick<TestApp, 'deps'>, sessionId: string, setCookie: string): Browser {
  const [cookie = ''] = setCookie.split(';', 1)
  return { sessionId, cookie, csrf: csrfToken(deps.vault, cookie.slice(cookie.indexOf('=') + 1)) }
}

export interface BrowserRequest {
  readonly method?: string
  /** From the root: `/v1/configs`. */
  readonly path: string
  readonly body?: unknown
  /** Beside the console's headers; null takes one away. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly agent?: Agent
}

/** Sends a request as the console does in a browser. */
export function browse(
  { baseUrl }: Pick<TestApp, 'baseUrl'>,
  { cookie, csrf }: Pick<Browser, 'cookie' | 'csrf'>,
  { method = 'GET', path, body, headers = {}, agent }: BrowserRequest,
): Promise<RawAnswer> {
  const own = {
    cookie,
    'sec-fetch-site': 'same-origin',
    ...(method !== 'GET' && { origin: baseUrl, 'x-csrf-token': csrf }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  }
  const sent = Object.entries(own).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return send(`${baseUrl}${path}`, {
    method,
    headers: Object.fromEntries(sent),
    ...(agent !== undefined && { agent }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
