import { ChangeSetType, JsonType, type EntityManager, type EventSubscriber, type FlushEventArgs } from '@mikro-orm/core'
import { fromPico } from '../../lib/pico.ts'
import { Secret } from '../../lib/secret.ts'
import { AmountType } from '../database/amount.ts'
import { SecretTextType } from '../database/secret-text.ts'

/**
 * The change of one row by one transaction. It has only the changed values; null: there was, or is, no row. Names are those of the columns;
 * amounts are numbers of US dollars or tokens, under the names that people know.
 */
export interface RowChange {
  readonly table: string
  readonly id: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

type ChangeSet = ReturnType<FlushEventArgs['uow']['getChangeSets']>[number]

const recorded = new WeakMap<EntityManager, RowChange[]>()

/** Notes every row that a flush writes, so that no handler has to record the former values. */
export const changeRecorder: EventSubscriber = {
  onFlush({ em, uow }) {
    const changes = recorded.get(em) ?? []
    recorded.set(em, changes)
    for (const changeSet of uow.getChangeSets()) note(changes, toChange(changeSet, originalOf(em, uow, changeSet)))
  },
}

/** The rows that this unit of work has written so far, each once, in the order of their first write. */
export const changesOf = (em: EntityManager): readonly RowChange[] => recorded.get(em) ?? []

function note(changes: RowChange[], change: RowChange): void {
  const at = changes.findIndex(({ table, id }) => table === change.table && id === change.id)
  const earlier = changes[at]
  if (earlier === undefined) changes.push(change)
  else changes[at] = { ...change, before: earlier.before && { ...change.before, ...earlier.before }, after: later(earlier, change) }
}

const later = (earlier: RowChange, { after }: RowChange) => after && { ...earlier.after, ...after }

const updates: ReadonlySet<ChangeSetType> = new Set([ChangeSetType.UPDATE, ChangeSetType.UPDATE_EARLY])
const deletes: ReadonlySet<ChangeSetType> = new Set([ChangeSetType.DELETE, ChangeSetType.DELETE_EARLY])

/** The row as it was read, its JSON parsed; also of a deleted row, where the change set has none. */
function originalOf(em: EntityManager, uow: FlushEventArgs['uow'], { entity, meta }: ChangeSet): Readonly<Record<string, unknown>> {
  const original: object = uow.getOriginalEntityData(entity) ?? {}
  const parsed = (name: string, value: unknown): unknown => {
    const type = meta.props.find((prop) => prop.name === name)?.customType
    if (type instanceof JsonType) return type.convertToJSValue(value, em.getPlatform(), { force: true })
    return type instanceof AmountType && typeof value === 'string' ? type.convertToJSValue(value) : value
  }
  return Object.fromEntries(Object.entries(original).map(([name, value]) => [name, parsed(name, value)]))
}

function toChange({ type, entity, payload, meta }: ChangeSet, original: unknown): RowChange {
  const names = updates.has(type) ? Object.keys(payload) : meta.props.map(({ name }) => name)
  const columns = meta.props.filter(
    ({ name, persist, generated }) => names.includes(name) && persist !== false && generated === undefined && name !== 'lastUpdatedAt',
  )
  const read = (from: unknown) =>
    Object.fromEntries(
      columns.map(({ name, fieldNames, customType }) => {
        const value: unknown = typeof from === 'object' && from !== null ? Reflect.get(from, name) : undefined
        if (customType instanceof AmountType) return [customType.known, typeof value === 'bigint' ? fromPico(value) : null]
        return [
          fieldNames[0] ?? name,
          customType instanceof SecretTextType && typeof value === 'string' ? new Secret(value) : (value ?? null),
        ]
      }),
    )
  const id: unknown = Reflect.get(entity, 'id')
  return {
    table: meta.tableName,
    id: typeof id === 'string' ? id : '',
    before: type === ChangeSetType.CREATE ? null : read(original),
    after: deletes.has(type) ? null : read(entity),
  }
}
