/** The end of a page: when the latest part of its last trace began, in microseconds since 1970, and the trace. */
export interface TraceCursor {
  readonly at: number
  readonly traceId: string
}

/** The opaque text of a cursor. */
export const writeTraceCursor = ({ at, traceId }: TraceCursor): string => Buffer.from(`${at}.${traceId}`).toString('base64url')

/** Null when the text is no cursor. */
export function readTraceCursor(text: string): TraceCursor | null {
  const [, at, traceId] = /^(-?\d{1,16})\.([^\0]{1,255})$/s.exec(Buffer.from(text, 'base64url').toString()) ?? []
  return at === undefined || traceId === undefined ? null : { at: Number(at), traceId }
}
