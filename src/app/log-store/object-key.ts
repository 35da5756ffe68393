/** A log, as its object is named. */
export interface StoredLog {
  readonly id: string
  readonly organisationId: string
  readonly workspaceId: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export type PathFormat = 'v1' | 'v2'

/**
 * Returns the key of a log's object. It begins with the days of retention, so that a life-cycle rule of the bucket can go by the prefix:
 * v1 is `90/{organisation}/{log}.json`, v2 `90/{organisation}/{workspace}/{year}/{month}/{day}/{hour}/{log}.json` (UTC).
 */
export function objectKey({ id, organisationId, workspaceId, createdAt }: StoredLog, days: number, format: PathFormat): string {
  if (format === 'v1') return `${days}/${organisationId}/${id}.json`
  const hour = new Date(createdAt).toISOString().slice(0, 13).replaceAll(/[-T]/g, '/')
  return `${days}/${organisationId}/${workspaceId ?? 'organisation'}/${hour}/${id}.json`
}
