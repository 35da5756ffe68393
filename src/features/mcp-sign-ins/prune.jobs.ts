import { deleteInSlices } from '../../app/database/delete-in-slices.ts'
import type { Job } from '../../app/feature.ts'

const size = 1000

/** Secrets and sign-ins that are over, sign-ins whose program never took its code, and those of people and servers that are gone. */
const over = [
  `DELETE FROM mcp_sign_in_secrets WHERE id IN (SELECT id FROM mcp_sign_in_secrets WHERE expires_at <= ? LIMIT ${size})`,
  `DELETE FROM mcp_sign_ins WHERE id IN (
     SELECT i.id FROM mcp_sign_ins i
      WHERE i.expires_at <= ?
         OR (i.created_at < now() - interval '1 day' AND NOT EXISTS (SELECT FROM mcp_sign_in_secrets s WHERE s.sign_in_id = i.id))
         OR EXISTS (SELECT FROM users u WHERE u.id = i.user_id AND u.status <> 'active')
         OR EXISTS (SELECT FROM mcp_servers s WHERE s.id = i.server_id AND s.status <> 'active')
      LIMIT ${size})`,
]

/** Removes sign-ins that are over: they are refused before that. */
export const pruneSignIns: Job = {
  name: 'prune-mcp-sign-ins',
  every: '41 * * * *',
  irreversible: true,
  async run({ orm, clock }) {
    for (const sql of over) await deleteInSlices(orm, { sql, values: [new Date(clock.now())], size })
  },
}
