import { isUuid } from '../../lib/is-uuid.ts'

/** The end of a page: the time, in epoch milliseconds, and the id of its last log. */
export interface Cursor {
  readonly createdAt: number
  readonly id: string
}

/** Returns the place of a log. */
export const cursorOf = ({ created_at: createdAt, id }: { readonly created_at: number; readonly id: string }): Cursor => ({ createdAt, id })

/** The opaque text of a cursor. */
export const writeCursor = ({ createdAt, id }: Cursor): string => Buffer.from(`${createdAt}.${id}`).toString('base64url')

/** Null when the text is no cursor. */
export function readCursor(text: string): Cursor | null {
  const [, time, id] = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  return time === undefined || id === undefined || !isUuid(id) ? null : { createdAt: Number(time), id }
}
