import { endsWithin } from '../lib/ends-within.ts'

/** A row of work that waits in a table. */
export interface Due {
  readonly id: string
  readonly organisation_id: string
}

/** Work that waits in a table, and how it is done. */
export interface DueWork<Row extends Due> {
  /** Takes at most `room` rows that are due and are not among those in work. Organisations take turns, see `turnOf`. */
  readonly claim: (inWork: string, room: number) => Promise<readonly Row[]>
  /** Never rejects. */
  readonly work: (row: Row) => Promise<void>
  /** The most rows in work at a time. */
  readonly atOnce: number
  /** Aborted when the run is to end. */
  readonly ending?: AbortSignal | undefined
}

const claimEveryMs = 1000

/** Does the work that is due until none is. Rows are claimed while others are in work: slow work delays no other row that comes due. */
export async function workOff<Row extends Due>({ claim, work, atOnce, ending }: DueWork<Row>): Promise<void> {
  const running = new Map<Row, Promise<void>>()
  try {
    for (;;) {
      if (ending?.aborted === true) return
      if (running.size < atOnce)
        for (const row of await claim(asJson([...running.keys()]), atOnce - running.size))
          running.set(
            row,
            work(row).finally(() => running.delete(row)),
          )
      if (running.size === 0) return
      await endsWithin(claimEveryMs, Promise.race(running.values()))
    }
  } finally {
    await Promise.allSettled(running.values())
  }
}

const asJson = (rows: readonly Due[]): string => JSON.stringify(rows.map(({ id, organisation_id }) => ({ id, organisation_id })))

/** The rows in work, as a table for SQL; its parameter is the list of leases from `claim`. */
export const inWorkTable = 'in_work AS (SELECT * FROM jsonb_to_recordset(?::jsonb) AS l (id uuid, organisation_id uuid))'

/** The turn of a row `d` among those of its organisation, in SQL: the rows of the organisation that are in work have the first turns. */
export const turnOf = (order: string): string =>
  `row_number() OVER (PARTITION BY d.organisation_id ORDER BY ${order}) + (SELECT count(*) FROM in_work l WHERE l.organisation_id = d.organisation_id)`
