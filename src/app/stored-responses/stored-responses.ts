import { z } from 'zod'
import type { Logger } from 'pino'
import { ApiError } from '../../lib/errors.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { createSpareWork } from '../database/spare-work.ts'
import type { ProviderScope } from '../../gateway/ports/callers.ts'
import type { LogSeal } from '../../gateway/ports/journal.ts'
import type { ResponseReader, ResponseStore, StoredResponse } from '../../gateway/ports/stored-responses.ts'
import { type AnsweredLog, answeredLogs, logOfFormer, mayRead, type StoredOwner } from './former-owner.ts'

export interface StoredResponsesOptions {
  readonly side: SidePool
  readonly seal: LogSeal
  readonly log: Logger
  /** 0: no response is kept. */
  readonly retentionDays: number
}

const kept = z.object({ response: z.record(z.string(), z.unknown()), input: z.array(z.record(z.string(), z.unknown())) })

/** The place to which a sealed response is bound. No log has such an id. */
const placeOf = (id: string, { organisationId, workspaceId }: ProviderScope) => ({
  id: `response ${workspaceId ?? ''} ${id}`,
  organisationId,
  createdAt: 0,
})

/** Responses in PostgreSQL, sealed, each visible to its organisation only. */
export function openStoredResponses({ side, seal, log, retentionDays }: StoredResponsesOptions): ResponseStore {
  const connections = side.of('responses')
  const keeping = createSpareWork(log, 'a response cannot be kept')
  return {
    keeps: retentionDays > 0,
    async get(id, reader) {
      const row = await readable(connections, id, reader)
      return row === null ? null : open(seal, { id, scope: reader, sealed: row.response })
    },
    async put(id, owner, stored) {
      if (keeping.paused()) throw unavailable()
      const sealed = Buffer.concat(seal.seal(placeOf(id, owner), [Buffer.from(JSON.stringify(stored))]))
      const insert = {
        text: `INSERT INTO stored_responses (organisation_id, workspace_id, id, expires_at, response, api_key_id, user_id)
               VALUES ($1, $2, $3, now() + $4 * interval '1 day', $5, $6, $7) ON CONFLICT DO NOTHING`,
        values: [owner.organisationId, owner.workspaceId, id, retentionDays, sealed, owner.apiKeyId, owner.userId],
      }
      try {
        await inTenant(connections, owner, insert)
      } catch (error) {
        keeping.failed(error)
        throw error
      }
    },
    async remove(id, reader) {
      if ((await readable(connections, id, reader)) === null) return false
      const rows = await inTenant(connections, reader, {
        text: 'DELETE FROM stored_responses WHERE organisation_id = $1 AND workspace_id IS NOT DISTINCT FROM $2 AND id = $3 AND expires_at > now() RETURNING id',
        values: [reader.organisationId, reader.workspaceId, id],
      })
      return rows.length > 0
    },
  }
}

interface KeptRow extends StoredOwner {
  readonly response: Buffer
  readonly created_at: Date
}

/** Returns the row of a response that the reader may read; null: there is none. */
async function readable(connections: SideConnections, id: string, reader: ResponseReader): Promise<KeptRow | null> {
  const { organisationId, workspaceId } = reader
  const [row] = await inTenant<KeptRow>(connections, reader, {
    text: `SELECT response, api_key_id, user_id, created_at FROM stored_responses
            WHERE organisation_id = $1 AND workspace_id IS NOT DISTINCT FROM $2 AND id = $3 AND expires_at > now()`,
    values: [organisationId, workspaceId, id],
  })
  if (row === undefined) return null
  const owner = reader.own === null || row.api_key_id !== null ? row : await formerOwner(connections, { id, reader, row })
  return mayRead(reader, owner) ? row : null
}

interface Former {
  readonly id: string
  readonly reader: ResponseReader
  readonly row: KeptRow
}

/** Returns the owner of a response that was kept without one, and notes it. */
async function formerOwner(connections: SideConnections, { id, reader, row }: Former): Promise<StoredOwner> {
  const { organisationId, workspaceId } = reader
  const logs = await inTenant<AnsweredLog>(connections, reader, {
    text: answeredLogs,
    values: [organisationId, workspaceId, row.created_at],
  })
  const log = await logOfFormer(id, logs)
  if (log === null) return row
  await inTenant(connections, reader, {
    text: 'UPDATE stored_responses SET api_key_id = $3, user_id = $4 WHERE organisation_id = $1 AND id = $2 AND api_key_id IS NULL',
    values: [organisationId, id, log.api_key_id, log.user_id],
  })
  return log
}

interface SealedResponse {
  readonly id: string
  readonly scope: ProviderScope
  readonly sealed: Buffer
}

function open(seal: LogSeal, { id, scope, sealed }: SealedResponse): StoredResponse {
  try {
    return kept.parse(JSON.parse(seal.open(placeOf(id, scope), sealed).toString('utf8')))
  } catch (cause) {
    throw new ApiError('sealed', `The response ${id} cannot be opened: it was sealed with another ENCRYPTION_KEY, or was changed.`, {
      cause,
    })
  }
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs a statement that sees the rows of one organisation and no other. */
async function inTenant<Row extends object>(
  connections: SideConnections,
  { organisationId }: ProviderScope,
  { text, values }: Statement,
): Promise<readonly Row[]> {
  try {
    return await connections.inOrganisation(organisationId, async (client) => (await client.query<Row>(text, [...values])).rows)
  } catch (cause) {
    throw unavailable(cause)
  }
}

const unavailable = (cause?: unknown): ApiError =>
  new ApiError('dependency_unavailable', 'Stored responses cannot be reached: the database is away. Try again.', { cause })
