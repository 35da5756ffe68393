import { ChangeSetType, JsonType, type EventSubscriber } from '@mikro-orm/core'
import { documentBytes } from '../../lib/document-bounds.ts'
import { ApiError } from '../../lib/errors.ts'

const deletes: ReadonlySet<ChangeSetType> = new Set([ChangeSetType.DELETE, ChangeSetType.DELETE_EARLY])

/** Refuses documents that are too large, in every route and job. Stored ones stay as they are: only columns that are written are looked at. */
export const documentBounds: EventSubscriber = {
  onFlush({ uow }) {
    for (const { type, meta, payload } of uow.getChangeSets()) {
      if (deletes.has(type)) continue
      for (const { name, fieldNames, customType } of meta.props)
        if (customType instanceof JsonType) demandFits(meta.tableName, fieldNames[0] ?? name, Reflect.get(payload, name))
    }
  },
}

/** AB01 for a document that is too large; the field of the API has the name of the column. */
function demandFits(table: string, column: string, value: unknown): void {
  const most = documentBytes(table, column)
  if (most === null || value === undefined || value === null) return
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (Buffer.byteLength(text) <= most) return
  throw new ApiError('AB01', `${column} has ${Buffer.byteLength(text)} bytes as JSON, and may have ${most / 1024} KiB.`, { param: column })
}
