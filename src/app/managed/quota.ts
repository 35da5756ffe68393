/** A file counts as so much at least: rows cost too, and their sum is looked at while others wait. */
const leastCounted = 65_536

/** A line of a batch takes about so much until the batch has ended. */
const bytesOfLine = 512

/** The bytes of the files of an organisation, and the lines and results of its batches that stand in no file yet: `$1`, of the workspace `$2` those too. */
export const used = `
  SELECT coalesce(sum(bytes), 0)::float8 AS organisation,
         coalesce(sum(bytes) FILTER (WHERE workspace_id IS NOT DISTINCT FROM $2), 0)::float8 AS workspace
    FROM (SELECT workspace_id, greatest(bytes, ${leastCounted}) AS bytes FROM files
           WHERE organisation_id = $1 AND (expires_at IS NULL OR expires_at > now())
          UNION ALL
          SELECT workspace_id, result_bytes + total::bigint * ${bytesOfLine} FROM batches WHERE organisation_id = $1 AND state IN ('in_progress', 'cancelling')) kept`

export interface UsedBytes {
  readonly organisation: number
  readonly workspace: number
}

export interface Quota {
  /** The most bytes of all files of one organisation, and of one workspace. */
  readonly organisationBytes: number
  readonly workspaceBytes: number
}

/** Returns the bytes that a workspace may still store. */
export const leftOf = (quota: Quota, workspaceId: string | null, { organisation, workspace }: UsedBytes): number =>
  Math.min(quota.organisationBytes - organisation, workspaceId === null ? Infinity : quota.workspaceBytes - workspace)

/** Results were paid for, so that they may pass the quota by a quarter; beyond it no more lines run until there is room. */
const beyond = 1.25

/** The organisations out of `$1` whose results have passed the quota `$2`. */
export const full = `
  SELECT o.id FROM unnest($1::uuid[]) AS o (id)
   WHERE (SELECT coalesce(sum(greatest(bytes, ${leastCounted})), 0) FROM files f
           WHERE f.organisation_id = o.id AND (f.expires_at IS NULL OR f.expires_at > now()))
         + (SELECT coalesce(sum(b.result_bytes), 0) FROM batches b WHERE b.organisation_id = o.id AND b.state IN ('in_progress', 'cancelling'))
         > $2::float8 * ${beyond}`
