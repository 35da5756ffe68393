import { DatabaseError } from 'pg'

export interface NumberedTakesOptions {
  /** The process, as leases name it. */
  readonly id: string
  readonly query: (text: string, values: readonly unknown[]) => Promise<void>
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

/** The questions of a process for slices, by number, so that a grant whose answer was lost is not held for ever. */
export interface NumberedTakes {
  begin(counter: string): NumberedTake
  /** Frees slices that were granted to takes whose answers were lost. Does not reject: slices that cannot be freed are freed later. */
  freeLost(): Promise<void>
}

export interface NumberedTake {
  readonly number: number
  /** The takes of the counter before whose answers were lost; null: none. */
  readonly unheard: readonly number[] | null
  /** The answer did not come. An error of the database itself is an answer: no slice was granted. */
  lose(error: unknown): void
}

interface LostTake {
  readonly counter: string
  readonly number: number
  readonly at: number
}

/** A take that waits for a lock in the database may be granted after its connection was cut: for so long it is looked for. */
const lookedForMs = 60_000
const everyMs = 1000
/** So many are asked about at a time. */
const mostAtOnce = 1000

/** Numbers the takes of a process. */
export function createTakes({ id, query, now }: NumberedTakesOptions): NumberedTakes {
  const lost = new Map<string, readonly LostTake[]>()
  let number = 0
  let askedAt = -everyMs
  const forget = (asked: readonly LostTake[], before: number): void => {
    for (const { counter } of asked) {
      const left = (lost.get(counter) ?? []).filter(({ at }) => at > before)
      if (left.length === 0) lost.delete(counter)
      else lost.set(counter, left)
    }
  }
  return {
    begin(counter) {
      const own = (number += 1)
      return {
        number: own,
        unheard: lost.get(counter)?.map((one) => one.number) ?? null,
        lose(error) {
          if (!(error instanceof DatabaseError)) lost.set(counter, [...(lost.get(counter) ?? []), { counter, number: own, at: now() }])
        },
      }
    },
    async freeLost() {
      if (lost.size === 0 || now() - askedAt < everyMs) return
      askedAt = now()
      const asked = [...lost.values()].flat().slice(0, mostAtOnce)
      try {
        await query('SELECT free_lost_takes($1, $2::text[], $3::bigint[])', [
          id,
          asked.map(({ counter }) => counter),
          asked.map((one) => one.number),
        ])
      } catch {
        return
      }
      forget(asked, now() - lookedForMs)
    },
  }
}
