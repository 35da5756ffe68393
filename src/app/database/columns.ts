import { p } from '@mikro-orm/core'
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
