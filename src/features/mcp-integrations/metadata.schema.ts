import { z } from 'zod'
import { since } from '../../release/since.ts'

const told = {
  title: z.string().nullable(),
  server_description: z.string().nullable(),
  icons: z.array(z.unknown()).nullable(),
  server_name: z.string().nullable(),
  server_version: z.string().nullable(),
  protocol_version: z.string().nullable().meta({ description: 'The revision of the protocol that it is spoken with.' }),
  sync_status: z.enum(['never', 'synced', 'failed']),
}

/** The facts of a server that lists show. */
export const toldFields = {
  title: since('1.9.0', told.title),
  server_description: since('1.9.0', told.server_description),
  icons: since('1.9.0', told.icons),
  server_name: since('1.9.0', told.server_name),
  server_version: since('1.9.0', told.server_version),
  protocol_version: since('1.9.0', told.protocol_version),
  sync_status: since('1.9.0', told.sync_status),
}

const moment = z.iso.datetime()

/** All facts of a server. */
export const metadataFields = {
  ...told,
  protocol_versions: z.array(z.string()),
  era: z.enum(['modern', 'legacy']).nullable(),
  capability_flags: z.record(z.string(), z.unknown()).nullable(),
  last_synced_at: moment.nullable(),
  last_sync_at: moment.nullable().meta({ description: 'The same.' }),
  sync_error: z.string().nullable(),
}
