import { p } from '@mikro-orm/core'
import { isBuiltWith } from '../../config/version.ts'
import { uuidv7 } from '../../lib/uuid.ts'

/** The primary key of every entity. */
export const id = () =>
  p
    .uuid()
    .primary()
    .onCreate(() => uuidv7())

/** `created_at`, set once. */
export const createdAt = () => p.datetime().onCreate(() => new Date())

/** `last_updated_at`, set at every write. */
export const lastUpdatedAt = () =>
  p
    .datetime()
    .onCreate(() => new Date())
    .onUpdate(() => new Date())

/** `status`: one of the states that are named, the first when a row is made. */
export const status = <State extends string>(...states: readonly [State, ...State[]]) => p.enum(states).default(states[0])

/** A column that a release brought. A build of an earlier one has no such column: there the field is kept nowhere. */
export const since = <Column extends { persist(persist: false): unknown }>(release: string, column: Column): Column =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is that of the newest build, where every column is kept
  isBuiltWith(release) ? column : (column.persist(false) as Column)
