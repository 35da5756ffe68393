import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'

/** How many attempts come at once, and how many an hour after that. */
interface Pace {
  readonly burst: number
  readonly perHour: number
}

/**
 * From one network against one account; from all networks together against one account; from a browser in which the account was signed in
 * before; links to one address; challenges for passkeys to one network. The second holds off those who have many addresses; the third is apart from it, so that they cannot lock out
 * the owner.
 */
const paces = {
  network: { burst: 10, perHour: 40 },
  account: { burst: 100, perHour: 100 },
  device: { burst: 20, perHour: 80 },
  reset: { burst: 3, perHour: 6 },
  challenge: { burst: 60, perHour: 1200 },
} as const satisfies Readonly<Record<string, Pace>>

export type PaceName = keyof typeof paces

/** A thing that is counted: the name of its pace, and whose. */
export type PaceSubject = readonly [pace: PaceName, whose: string]

/** Counts an attempt before it is looked at, so that many at once are counted too. Throws AB06 for one too many, which leaves the rest uncounted. */
export async function demandPace(deps: Deps, counted: readonly PaceSubject[]): Promise<void> {
  const spent = await asSystem(deps.orm, async (em) => {
    for (const one of counted) {
      const wait = await take(em, deps, one)
      if (wait > 0) return { pace: one[0], wait }
    }
    return null
  })
  if (spent === null) return
  deps.metrics.authFailure('limited')
  const message = spent.pace === 'reset' ? tooManyLinks : tooManyAttempts
  throw new ApiError('AB06', message, { param: 'email', retryAfter: Math.ceil(spent.wait) })
}

const tooManyAttempts = 'Too many attempts to sign in. Wait, or have a link to a new password sent by e-mail.'
const tooManyLinks = 'Too many links were asked for. Look at the latest mail, also among the unwanted ones, or wait.'

/** Forgets the attempts that a success makes harmless. */
export async function forgive(deps: Deps, counted: readonly PaceSubject[]): Promise<void> {
  const names = counted.map((one) => nameOf(deps, one))
  await asSystem(deps.orm, async (em) => {
    for (const name of names) await em.execute('DELETE FROM sign_in_pace WHERE name = ?', [name])
  })
}

const nameOf = ({ vault }: Deps, [pace, whose]: PaceSubject): Buffer => vault.hashKey(`sign-in-pace:${pace}:${whose}`)

/** The level falls with time and rises by one with each attempt that is let through. Returns the seconds to wait; 0: none. */
async function take(em: EntityManager, deps: Deps, counted: PaceSubject): Promise<number> {
  const { burst, perHour } = paces[counted[0]]
  const now = new Date(deps.clock.now())
  const fallen = `greatest(0, p.level - greatest(0, extract(epoch FROM excluded.at - p.at)) * ${perHour / 3600})`
  const [row] = await em.execute<{ level: number; refused: boolean }[]>(
    `INSERT INTO sign_in_pace AS p (name, level, at) VALUES (?, 1, ?)
     ON CONFLICT (name) DO UPDATE
        SET level = CASE WHEN ${fallen} + 1 > ${burst} THEN ${fallen} ELSE ${fallen} + 1 END,
            refused = ${fallen} + 1 > ${burst}, at = greatest(p.at, excluded.at)
     RETURNING level, refused`,
    [nameOf(deps, counted), now],
  )
  if (row === undefined || !row.refused) return 0
  return Math.max(1, ((row.level + 1 - burst) * 3600) / perHour)
}

/** Removes counters that have fallen to zero. */
export async function prunePace(em: EntityManager, now: number): Promise<void> {
  await em.execute('DELETE FROM sign_in_pace WHERE at < ?', [new Date(now - 3 * 3_600_000)])
}
