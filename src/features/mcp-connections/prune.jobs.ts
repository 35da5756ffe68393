import { deleteInSlices } from '../../app/database/delete-in-slices.ts'
import type { Job } from '../../app/feature.ts'

const size = 1000

/** Requests whose time is over, and the tokens of people and servers that are gone. */
const over = [
  `DELETE FROM mcp_connection_requests WHERE id IN (SELECT id FROM mcp_connection_requests WHERE expires_at <= ? LIMIT ${size})`,
  `DELETE FROM mcp_grants WHERE id IN (
     SELECT g.id FROM mcp_grants g
      WHERE g.created_at < ?
        AND (EXISTS (SELECT FROM users u WHERE u.id = g.user_id AND u.status <> 'active')
          OR EXISTS (SELECT FROM mcp_servers s WHERE s.id = g.server_id AND s.status <> 'active')
          OR EXISTS (SELECT FROM mcp_integrations i WHERE i.id = g.integration_id AND i.status <> 'active'))
      LIMIT ${size})`,
]

/** Removes what is over: none of it is used before that. */
export const pruneConnections: Job = {
  name: 'prune-mcp-connections',
  every: '43 * * * *',
  irreversible: true,
  async run({ orm, clock }) {
    for (const sql of over) await deleteInSlices(orm, { sql, values: [new Date(clock.now())], size })
  },
}
