import { hash } from 'node:crypto'
import type { TokenHolder } from '../../gateway/ports.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Role } from '../../lib/access/roles.ts'
import { tokenSettings } from '../../lib/access/token-settings.ts'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { type DefaultsRow, requestDefaults } from '../../app/snapshot/request-defaults.ts'
import { stringsOf } from '../../app/snapshot/strings-of.ts'
import { anyOf, usualLimits, type Ask, type Views } from '../../app/snapshot/view.ts'
import { limitedColumn, toGatewayLimits, type LimitedRow } from '../limits/index.ts'
import { type Candidate, personOf } from './token-person.ts'

const issuerById = `SELECT o.settings -> 'jwt' AS settings, o.settings -> 'allowed_custom_hosts' AS hosts FROM organisations o WHERE o.id = $1 AND o.status = 'active'`

/** How the tokens of an organisation are verified. */
export const tokenIssuerView: Views['tokenIssuer'] = {
  limits: usualLimits,
  tables: [],
  key: (organisationId) => organisationId,
  find: (organisationId, address, { known }) => ({
    address,
    isKnown: () => known.isOrganisation(organisationId),
    async read(ask) {
      const [row] = await ask<{ settings: unknown; hosts: unknown }>({ name: 'token-issuer', text: issuerById, values: [organisationId] })
      if (row === undefined) return null
      const stored = tokenSettings.safeParse(row.settings)
      const version = hash('sha256', `${organisationId} ${JSON.stringify([row.settings, row.hosts])}`, 'base64')
      return {
        view: {
          organisationId,
          settings: stored.success ? stored.data : null,
          allowedHosts: allowedHostsOf({ allowed_custom_hosts: row.hosts }),
          version,
        },
        dependsOn: [organisationId],
        until: Infinity,
      }
    },
  }),
}

interface HolderRow extends DefaultsRow {
  readonly workspaceLimited: LimitedRow
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly workspaceMetadata: unknown
  readonly accessOverrides: unknown
  readonly issuerRank: Role | null
  readonly byEmail: Candidate | null
  readonly bySubject: Candidate | null
}

/** One user as JSON: the active one of several; a removed one is found until they are invited again. */
const candidate = (whom: string) => `
  (SELECT json_build_object('id', u.id, 'status', u.status, 'organisationRole', u.role, 'workspaceRole', m.role, 'subject', k.subject)
     FROM users u
     LEFT JOIN workspace_members m ON m.user_id = u.id AND m.workspace_id = w.id
     LEFT JOIN user_identities k ON k.user_id = u.id AND k.issuer = $4::text
    WHERE u.organisation_id = o.id AND ${whom}
    ORDER BY u.status = 'active' DESC LIMIT 1)`

const holder = (key: string) => `
  SELECT w.id AS "workspaceId", w.slug AS "workspaceSlug", w.defaults -> 'metadata' AS "workspaceMetadata",
         w.access_overrides AS "accessOverrides", o.settings AS "organisationSettings", o.token_issuer_rank AS "issuerRank", NULL AS defaults,
         ${limitedColumn('w')} AS "workspaceLimited", w.defaults AS "workspaceDefaults", o.defaults AS "organisationDefaults",
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

/** Workspace in which the holder of a token acts, and the user behind it. A holder without a link may become any user that comes. */
export const tokenHolderView: Views['tokenHolder'] = {
  limits: usualLimits,
  tables: [],
  anyOf: ['users'],
  key: (organisationId, { workspace, email, identity }) => JSON.stringify([organisationId, workspace, email, identity]),
  find: (organisationId, { workspace, email, identity }) => ({
    async read(ask) {
      const query = isUuid(workspace) ? queries.id : queries.slug
      const { issuer, subject } = identity ?? unknown
      const [row] = await ask<HolderRow>({ ...query, values: [organisationId, workspace, email, issuer, subject] })
      if (row === undefined) return null
      const { byEmail, bySubject, issuerRank } = row
      const rank = issuerRank ?? 'organisation-admin'
      const { person, conflict, link: userId } = personOf({ subject, email, byEmail, bySubject, rank })
      if (userId !== null && identity !== null) await remember(ask, { organisationId, userId, ...identity })
      const found = [byEmail, bySubject].flatMap((user) => user?.id ?? [])
      const stranger = byEmail?.status === 'active' ? [] : [anyOf('users')]
      return {
        view: { ...toHolder(organisationId, row), person, conflict },
        dependsOn: [organisationId, row.workspaceId, ...new Set(found), ...stranger],
        until: Infinity,
      }
    },
  }),
}

const unknown = { issuer: null, subject: null }

const link = `
  INSERT INTO user_identities (id, organisation_id, user_id, issuer, subject, by_token) VALUES ($1, $2, $3, $4, $5, true)
  ON CONFLICT (user_id, issuer) DO NOTHING`

interface Identity {
  readonly organisationId: string
  readonly userId: string
  readonly issuer: string
  readonly subject: string
}

/** Notes the subject by which a user is found from now on. The first of two concurrent tokens counts, and the other is refused when it is read anew. */
async function remember(ask: Ask, { organisationId, userId, issuer, subject }: Identity): Promise<void> {
  await ask({ text: link, values: [uuidv7(), organisationId, userId, issuer, subject] })
}

const toHolder = (organisationId: string, row: HolderRow): Omit<TokenHolder, 'person' | 'conflict'> => ({
  organisationId,
  workspaceId: row.workspaceId,
  workspaceSlug: row.workspaceSlug,
  settings: effectiveSettings(row.organisationSettings, row.accessOverrides),
  allowedHosts: allowedHostsOf(row.organisationSettings),
  metadata: stringsOf(row.workspaceMetadata),
  defaults: requestDefaults('workspace-user', row),
  limits: toGatewayLimits({ kind: 'workspace', id: row.workspaceId, organisationId, ...row.workspaceLimited }),
})
