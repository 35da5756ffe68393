import { randomUUID } from 'node:crypto'
import { organisationScopes, userScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import type { OrganisationRole, WorkspaceRole } from '../../../src/lib/access/roles.ts'
import { send } from '../../support/http.ts'
import { browse, signIn, type TestPerson } from '../../support/people.ts'
import type { Control, Tenant } from './setup.ts'

/** A rank with the letter that stands for it, the highest first. */
export const ranks = {
  O: ['owner', null],
  A: ['admin', null],
  a: ['member', 'admin'],
  g: ['member', 'manager'],
  m: ['member', 'member'],
} as const
export type Rank = keyof typeof ranks
export const rankLetters = Object.keys(ranks) as Rank[]

export interface Reply {
  readonly status: number
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A credential: its requests are sent as by the person or the program that has it. */
export interface Credential {
  readonly name: string
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Reply>
}

const replyOf = ({ status, text }: { readonly status: number; readonly text: string }): Reply => ({
  status,
  text,
  body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
})

/** A credential by the secret of a key. */
export const keyCredential = ({ origin }: Pick<Control, 'origin'>, name: string, key: string): Credential => ({
  name,
  ask: async (method, path, body) =>
    replyOf(
      await send(`${origin}/v1${path}`, {
        method,
        headers: { 'x-service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    ),
})

/** A person of a rank, with a role in the workspace that the ranks of workspaces have. */
export async function personOf(control: Control, tenant: Tenant, rank: Rank): Promise<TestPerson> {
  const [role, place]: readonly [OrganisationRole, WorkspaceRole | null] = ranks[rank]
  const email = `${rank === rank.toLowerCase() ? 'place' : 'organisation'}-${rank.toLowerCase()}-${randomUUID()}@acme.example`
  const workspaces = place === null ? {} : { [tenant.workspaceId]: place }
  const id = await control.createUser(tenant, { email, role, workspaces })
  return { id, organisationId: tenant.organisationId, email, role }
}

/** The session of a person. */
export async function sessionOf(control: Control, person: TestPerson, name: string): Promise<Credential> {
  const browser = await signIn(control.started, person)
  const origin = control.started.deps.config.publicUrl ?? control.origin
  return {
    name,
    ask: async (method, path, body) =>
      replyOf(
        await browse({ baseUrl: control.origin }, browser, {
          method,
          path: `/v1${path}`,
          body,
          ...(method !== 'GET' && { headers: { origin } }),
        }),
      ),
  }
}

/** The scopes that a manager, too, may give. */
const ofWorkspace = workspaceScopes.filter((scope) => !/^secret_references|^workspaces\.(?:create|delete)/.test(scope))

/** Makes a service key by a credential. Throws if that is refused. */
export async function makeKey(
  by: Credential,
  type: 'organisation' | 'workspace',
  { workspaceId, scopes }: { readonly workspaceId: string; readonly scopes?: readonly string[] },
): Promise<{ readonly id: string; readonly secret: string }> {
  const wanted = scopes ?? (type === 'organisation' ? organisationScopes : ofWorkspace)
  const body = { name: 'Made', scopes: wanted, ...(type === 'workspace' && { workspace_id: workspaceId }) }
  const { status, text, body: made } = await by.ask('POST', `/api-keys/${type}/service`, body)
  if (status !== 200) throw new Error(`${by.name}: ${status} ${text}`)
  return { id: String(made['id']), secret: String(made['key']) }
}

/** Every kind of credential that acts on the control plane, each with the person at whose word it exists. */
export async function credentialsOf(control: Control, tenant: Tenant): Promise<readonly Credential[]> {
  const { workspaceId } = tenant
  const found: Credential[] = [
    keyCredential(control, 'first organisation key', tenant.adminKey),
    keyCredential(control, 'first workspace key', tenant.workspaceKey),
  ]
  const [firstAdmin] = found
  if (firstAdmin === undefined) throw new Error('there is no first key')
  const grandchild = await makeKey(firstAdmin, 'workspace', { workspaceId })
  found.push(keyCredential(control, 'workspace key by the first organisation key', grandchild.secret))
  for (const rank of rankLetters) {
    const person = await personOf(control, tenant, rank)
    const session = await sessionOf(control, person, `session of ${rank}`)
    found.push(session)
    const own = await control.createKey(tenant, { workspaceId, userId: person.id, scopes: userScopes })
    found.push(keyCredential(control, `user key of ${rank}`, own))
    if (rank === 'm') continue
    if (rank === 'O' || rank === 'A')
      found.push(keyCredential(control, `organisation key by ${rank}`, (await makeKey(session, 'organisation', { workspaceId })).secret))
    const made = keyCredential(control, `workspace key by ${rank}`, (await makeKey(session, 'workspace', { workspaceId })).secret)
    const second = keyCredential(control, `workspace key by a key by ${rank}`, (await makeKey(made, 'workspace', { workspaceId })).secret)
    found.push(made, second)
  }
  return found
}
