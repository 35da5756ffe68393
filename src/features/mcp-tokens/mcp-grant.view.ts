import { usualLimits, type Views } from '../../app/snapshot/view.ts'
import { openContents } from './contents.ts'

interface GrantRow {
  readonly id: string
  readonly organisationId: string
  readonly generation: number
  readonly contents: Buffer
  /** Epoch milliseconds. */
  readonly givenAt: number
  readonly expiresAt: number | null
}

const grant = (whose: string) => `
  SELECT id, organisation_id AS "organisationId", generation, contents, (extract(epoch FROM last_updated_at) * 1000)::float8 AS "givenAt",
         (extract(epoch FROM expires_at) * 1000)::float8 AS "expiresAt"
    FROM mcp_grants WHERE organisation_id = $1 AND integration_id = $2 AND ${whose} AND contents IS NOT NULL`

const ofPerson = { name: 'mcp-grant-of-person', text: grant('server_id = $3 AND user_id = $4') }
const own = { name: 'mcp-grant-own', text: grant('user_id IS NULL') }

/** The tokens of a holder. */
export const mcpGrantView: Views['mcpGrant'] = {
  limits: usualLimits,
  tables: ['mcp_grants'],
  key: ({ integrationId, person }) => `${integrationId}/${person?.serverId ?? ''}/${person?.userId ?? ''}`,
  find: ({ organisationId, integrationId, person }, _, { vault, opened }) => ({
    async read(ask) {
      const values = [organisationId, integrationId, ...(person === null ? [] : [person.serverId, person.userId])]
      const [row] = await ask<GrantRow>({ ...(person === null ? own : ofPerson), values })
      if (row === undefined) return null
      const { id, generation, givenAt, expiresAt } = row
      const { accessToken } = await opened('mcp_grants', () => openContents(vault, row, row.contents))
      return { view: { id, generation, accessToken, givenAt, expiresAt }, dependsOn: [id, organisationId], until: Infinity }
    },
  }),
}
