import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { deniedFields } from '../../lib/access/export-settings.ts'
import { deniedAmong } from './export-fields.ts'

interface Settings {
  readonly settings: unknown
}

/** Reads the fields that no export of the organisation may have. */
export async function readDeniedFields(em: EntityManager, organisationId: string): Promise<readonly string[]> {
  const rows = await em.execute<Settings[]>('SELECT settings FROM organisations WHERE id = ?', [organisationId])
  return deniedFields(rows[0]?.settings)
}

/** Throws AB03 if one of the fields is denied. */
export async function demandFields(em: EntityManager, organisationId: string, fields: readonly string[]): Promise<void> {
  const denied = deniedAmong(fields, await readDeniedFields(em, organisationId))
  if (denied.length === 0) return
  throw new ApiError(
    'AB03',
    `The organisation's settings keep these fields out of exports: ${denied.join(', ')}. Ask for the others only.`,
    { param: 'requested_data' },
  )
}
