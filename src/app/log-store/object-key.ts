/** A log, as its object is named. */
export interface StoredLog {
  readonly id: string
  readonly organisationId: string
  readonly workspaceId: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export const pathFormats = ['v1', 'v2'] as const
export type PathFormat = (typeof pathFormats)[number]

/**
 * Returns the key of a log's object. It begins with the days of retention, so that a life-cycle rule of the bucket can go by the prefix:
 * v1 is `90/{organisation}/{log}.json`, v2 `90/{organisation}/{workspace}/{year}/{month}/{day}/{hour}/{log}.json` (UTC).
 */
export function objectKey({ id, organisationId, workspaceId, createdAt }: StoredLog, days: number, format: PathFormat): string {
  if (format === 'v1') return `${days}/${organisationId}/${id}.json`
  const hour = new Date(createdAt).toISOString().slice(0, 13).replaceAll(/[-T]/g, '/')
  return `${days}/${organisationId}/${workspaceId ?? 'organisation'}/${hour}/${id}.json`
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const keyOf: Readonly<Record<PathFormat, RegExp>> = {
  v1: new RegExp(`^\\d{1,4}/${uuid}/(${uuid})\\.json$`),
  v2: new RegExp(`^\\d{1,4}/${uuid}/(?:${uuid}|organisation)/\\d{4}(?:/\\d\\d){3}/(${uuid})\\.json$`),
}

/** Returns the format of an object's key, and the id of its log; null: it is no key of ours. */
export function readKey(key: string): { readonly format: PathFormat; readonly id: string } | null {
  for (const format of pathFormats) {
    const [, id] = keyOf[format].exec(key) ?? []
    if (id !== undefined) return { format, id }
  }
  return null
}
