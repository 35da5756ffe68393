import type { KeyView } from '../../gateway/ports.ts'
import { hash } from 'node:crypto'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { defaultColumns, type DefaultsRow, requestDefaults } from '../../app/snapshot/request-defaults.ts'
import { stringsOf } from '../../app/snapshot/strings-of.ts'
import { usualLimits, type Views } from '../../app/snapshot/view.ts'
import type { LoadedView } from '../../app/snapshot/view-cache.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { joinLimits, limitedColumn, toGatewayLimits, type LimitedRow } from '../limits/index.ts'
import { boundRole, scopesOfService } from '../../lib/access/rank.ts'
import { roleIn, scopesOfRole, type OrganisationRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { rotationDue, userKeySettings } from '../../lib/access/user-key-settings.ts'

interface KeyRow
  extends Omit<KeyView, 'scopes' | 'metadata' | 'defaults' | 'role' | 'maker' | 'settings' | 'allowedHosts' | 'limits'>, DefaultsRow {
  readonly limited: LimitedRow
  readonly workspaceLimited: LimitedRow

  readonly scopes: readonly string[]
  readonly metadata: unknown
  readonly workspaceMetadata: unknown
  readonly organisationSettings: unknown
  readonly accessOverrides: unknown
  readonly organisationRole: OrganisationRole | null
  readonly workspaceRole: WorkspaceRole | null
  /** The person who made the secret that was shown; null: none is known. */
  readonly makerId: string | null
  readonly makerRole: OrganisationRole | null
  readonly makerPlace: WorkspaceRole | null
  /** When its secret was made, in epoch milliseconds. */
  readonly secretFrom: number
  /** Milliseconds that the secret still serves; null: until the key is changed. */
  readonly remainingMs: number | null
}

/** The columns of a key whose secret has the hash `$1`. */
const selectKey = `
  SELECT k.id, k.type, k.name, k.organisation_id AS "organisationId", k.workspace_id AS "workspaceId", w.slug AS "workspaceSlug",
         k.user_id AS "userId", k.scopes, k.status, k.defaults -> 'metadata' AS metadata,
         w.defaults -> 'metadata' AS "workspaceMetadata",
         (extract(epoch FROM k.expires_at) * 1000)::float8 AS "expiresAt", ${defaultColumns},
         ${limitedColumn('k')} AS limited, ${limitedColumn('w')} AS "workspaceLimited",
         (extract(epoch FROM coalesce(k.rotated_at, k.created_at)) * 1000)::float8 AS "secretFrom",
         w.access_overrides AS "accessOverrides", u.role AS "organisationRole", m.role AS "workspaceRole",
         made.by AS "makerId", maker.role AS "makerRole", place.role AS "makerPlace",
         CASE WHEN k.key_hash = $1 THEN NULL ELSE (extract(epoch FROM k.previous_key_expires_at - now()) * 1000)::float8 END AS "remainingMs"
    FROM api_keys k
    JOIN organisations o ON o.id = k.organisation_id
    LEFT JOIN workspaces w ON w.id = k.workspace_id
    LEFT JOIN users u ON u.id = k.user_id AND u.status = 'active'
    LEFT JOIN workspace_members m ON m.user_id = k.user_id AND m.workspace_id = k.workspace_id
    CROSS JOIN LATERAL (SELECT CASE WHEN k.key_hash = $1 THEN k.maker_id ELSE k.previous_maker_id END AS by) made
    LEFT JOIN users maker ON maker.id = made.by AND maker.status = 'active'
    LEFT JOIN workspace_members place ON place.user_id = made.by AND place.workspace_id = k.workspace_id
   WHERE k.status <> 'archived' AND o.status = 'active' AND w.status IS DISTINCT FROM 'archived'`

/** Both secrets of a key that is being rotated find it; the old one for as long as the transition lasts. */
const keyByHash = `${selectKey} AND (k.key_hash = $1 OR (k.previous_key_hash = $1 AND k.previous_key_expires_at > now()))`

/** By its id, as by its present secret. */
const keyWithId = selectKey.replaceAll('$1', 'k.key_hash') + ' AND k.id = $1'

/** The key with a secret, if it still serves. */
export const keyView: Views['key'] = {
  limits: usualLimits,
  tables: ['api_keys'],
  // A digest for the memory only, seven times cheaper than the keyed hash of the key in the database.
  key: (secret) => hash('sha256', secret, 'base64'),
  find(secret, address, { vault, known }) {
    const keyHash = vault.hashKey(secret)
    return {
      address,
      isKnown: () => known.mayBeKey(keyHash),
      async read(ask) {
        const askedAt = performance.now()
        const [row] = await ask<KeyRow>({ name: 'key-by-hash', text: keyByHash, values: [keyHash] })
        return row === undefined ? null : toKey(row, askedAt)
      },
    }
  },
}

/** The key with an id, for work that goes on without its secret. */
export const keyByIdView: Views['keyById'] = {
  limits: usualLimits,
  tables: ['api_keys'],
  key: (id) => id,
  find: (id) => ({
    async read(ask) {
      const askedAt = performance.now()
      const [row] = await ask<KeyRow>({ name: 'key-by-id', text: keyWithId, values: [id] })
      return row === undefined ? null : toKey(row, askedAt)
    },
  }),
}

/** `askedAt` is on the clock of the cache. */
function toKey(row: KeyRow, askedAt: number): LoadedView<KeyView> {
  const { remainingMs, scopes, metadata, defaults, workspaceDefaults, organisationDefaults, workspaceConfig, ...more } = row
  const {
    organisationSettings,
    accessOverrides,
    organisationRole,
    workspaceRole,
    makerId,
    makerRole,
    makerPlace,
    workspaceMetadata,
    secretFrom,
    limited,
    workspaceLimited,
    ...rest
  } = more
  const settings = effectiveSettings(organisationSettings, accessOverrides)
  const maker = makerId === null ? null : { userId: makerId, role: makerRole === null ? null : roleIn(makerRole, makerPlace) }
  const role = boundRole(organisationRole === null ? null : roleIn(organisationRole, workspaceRole), maker)
  return {
    view: {
      ...rest,
      expiresAt:
        row.type === 'workspace-user'
          ? earlier(row.expiresAt, rotationDue(userKeySettings(organisationSettings, accessOverrides), secretFrom))
          : row.expiresAt,
      role,
      maker,
      settings,
      allowedHosts: allowedHostsOf(organisationSettings),
      scopes:
        row.type === 'workspace-user' ? scopesOfRole(scopes, role, settings) : scopesOfService({ type: row.type, scopes, maker, settings }),
      limits: joinLimits([
        toGatewayLimits({ kind: 'api-key', id: row.id, organisationId: row.organisationId, ...limited }),
        row.workspaceId === null
          ? null
          : toGatewayLimits({ kind: 'workspace', id: row.workspaceId, organisationId: row.organisationId, ...workspaceLimited }),
      ]),
      metadata: { ...stringsOf(workspaceMetadata), ...stringsOf(metadata) },
      defaults: requestDefaults(row.type, { defaults, workspaceDefaults, organisationDefaults, workspaceConfig }),
    },
    dependsOn: [row.id, row.organisationId, row.workspaceId, row.userId, makerId].filter((id) => id !== null),
    until: remainingMs === null ? Infinity : askedAt + remainingMs,
  }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)
