import { hash } from 'node:crypto'
import type { Pool } from 'pg'
import type { TokenHolder, TokenIssuer, WantedHolder } from '../../gateway/ports.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { tokenSettings } from '../../lib/access/token-settings.ts'
import { allowedHostsOf } from './allowed-hosts.ts'
import { type DefaultsRow, requestDefaults } from './request-defaults.ts'
import { type Candidate, personOf } from './token-person.ts'
import { stringsOf } from './strings-of.ts'
import type { Loaded } from './view-cache.ts'

/** What a holder whom the organisation does not know depends on: it may come to know them by any change of a user. */
export const anyPerson = 'any person'

const issuerById = `SELECT o.settings -> 'jwt' AS settings FROM organisations o WHERE o.id = $1 AND o.status = 'active'`

/** Reads how the tokens of an organisation are verified; null when there is no such organisation. */
export async function readTokenIssuer(pool: Pool, organisationId: string): Promise<Loaded<TokenIssuer> | null> {
  const { rows } = await pool.query<{ settings: unknown }>({ name: 'token-issuer', text: issuerById, values: [organisationId] })
  const [row] = rows
  if (row === undefined) return null
  const stored = tokenSettings.safeParse(row.settings)
  const version = hash('sha256', `${organisationId} ${JSON.stringify(row.settings)}`, 'base64')
  return {
    view: { organisationId, settings: stored.success ? stored.data : null, version },
    dependsOn: [organisationId],
    until: Infinity,
  }
}

interface HolderRow extends DefaultsRow {
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly workspaceMetadata: unknown
  readonly accessOverrides: unknown
  readonly byEmail: Candidate | null
  readonly bySubject: Candidate | null
}

/** One user as JSON: of several the one who is active; who was removed is known until they are invited again. */
const candidate = (whom: string) => `
  (SELECT json_build_object('id', u.id, 'status', u.status, 'organisationRole', u.role, 'workspaceRole', m.role, 'subject', k.subject)
     FROM users u
     LEFT JOIN workspace_members m ON m.user_id = u.id AND m.workspace_id = w.id
     LEFT JOIN user_identities k ON k.user_id = u.id AND k.issuer = $4::text
    WHERE u.organisation_id = o.id AND ${whom}
    ORDER BY u.status = 'active' DESC LIMIT 1)`

const holder = (key: string) => `
  SELECT w.id AS "workspaceId", w.slug AS "workspaceSlug", w.defaults -> 'metadata' AS "workspaceMetadata",
         w.access_overrides AS "accessOverrides", o.settings AS "organisationSettings", NULL AS defaults,
         w.defaults AS "workspaceDefaults", o.defaults AS "organisationDefaults",
         (SELECT c.id FROM configs c WHERE c.workspace_id = w.id AND c.is_default AND c.status = 'active') AS "workspaceConfig",
         ${candidate('u.email = $3::text')} AS "byEmail",
         ${candidate('EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND i.issuer = $4::text AND i.subject = $5::text)')} AS "bySubject"
    FROM workspaces w
    JOIN organisations o ON o.id = w.organisation_id
   WHERE o.id = $1 AND ${key} AND w.status = 'active' AND o.status = 'active'`
const queries = {
  id: { name: 'token-holder-by-id', text: holder('w.id = $2') },
  slug: { name: 'token-holder-by-slug', text: holder('w.slug = $2') },
}

/** Reads where the holder of a token acts, and who it is there; null when the organisation has no such workspace. */
export async function readTokenHolder(pool: Pool, organisationId: string, wanted: WantedHolder): Promise<Loaded<TokenHolder> | null> {
  const { workspace, email, identity } = wanted
  const query = isUuid(workspace) ? queries.id : queries.slug
  const { issuer, subject } = identity ?? unknown
  const values = [organisationId, workspace, email, issuer, subject]
  const { rows } = await pool.query<HolderRow>({ ...query, values })
  const [row] = rows
  if (row === undefined) return null
  const { byEmail, bySubject } = row
  const { person, conflict, link: userId } = personOf({ subject, email, byEmail, bySubject })
  if (userId !== null && identity !== null) await remember(pool, { organisationId, userId, ...identity })
  const found = [byEmail, bySubject].flatMap((user) => user?.id ?? [])
  const stranger = byEmail?.status === 'active' ? [] : [anyPerson]
  return {
    view: { ...toHolder(organisationId, row), person, conflict },
    dependsOn: [organisationId, row.workspaceId, ...new Set(found), ...stranger],
    until: Infinity,
  }
}

const unknown = { issuer: null, subject: null }

const link = `
  INSERT INTO user_identities (id, organisation_id, user_id, issuer, subject) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (user_id, issuer) DO NOTHING`

interface Identity {
  readonly organisationId: string
  readonly userId: string
  readonly issuer: string
  readonly subject: string
}

/** Notes by whom a user is known from now on. Of two tokens at the same time the first counts, and the other is refused when it is read anew. */
async function remember(pool: Pool, { organisationId, userId, issuer, subject }: Identity): Promise<void> {
  await pool.query(link, [uuidv7(), organisationId, userId, issuer, subject])
}

const toHolder = (organisationId: string, row: HolderRow): Omit<TokenHolder, 'person' | 'conflict'> => ({
  organisationId,
  workspaceId: row.workspaceId,
  workspaceSlug: row.workspaceSlug,
  settings: effectiveSettings(row.organisationSettings, row.accessOverrides),
  allowedHosts: allowedHostsOf(row.organisationSettings),
  metadata: stringsOf(row.workspaceMetadata),
  defaults: requestDefaults('workspace-user', row),
})
