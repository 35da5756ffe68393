import type { RealtimeTurn } from './realtime-turn.ts'

/** The turns of a session that have not ended. Each is found at once, however many there are. */
export interface OpenTurns {
  /** `isAsked`: a client asked for it, so that the next response of the provider is this one. */
  add(turn: RealtimeTurn, isAsked: boolean): void
  /** Notes the response of the provider that is this turn. */
  name(turn: RealtimeTurn, id: string): void
  /** Events that belong to no turn do not go behind those of this one any longer. */
  release(turn: RealtimeTurn): void
  remove(turn: RealtimeTurn): void
  /** Returns the oldest that was asked for and has not begun. */
  asked(): RealtimeTurn | undefined
  named(id: string): RealtimeTurn | undefined
  /** Returns the oldest behind whose events others go, so that the order stays. */
  first(): RealtimeTurn | undefined
  all(): readonly RealtimeTurn[]
  count(): number
}

export function createOpenTurns(): OpenTurns {
  const [open, asked, speaking] = [new Set<RealtimeTurn>(), new Set<RealtimeTurn>(), new Set<RealtimeTurn>()]
  const byId = new Map<string, RealtimeTurn>()
  return {
    add(turn, isAsked) {
      open.add(turn)
      speaking.add(turn)
      if (isAsked) asked.add(turn)
    },
    name(turn, id) {
      turn.id = id
      asked.delete(turn)
      byId.set(id, turn)
    },
    release(turn) {
      asked.delete(turn)
      speaking.delete(turn)
    },
    remove(turn) {
      for (const set of [open, asked, speaking]) set.delete(turn)
      if (turn.id !== null && byId.get(turn.id) === turn) byId.delete(turn.id)
    },
    asked: () => oldest(asked),
    named: (id) => byId.get(id),
    first: () => oldest(speaking),
    all: () => [...open],
    count: () => open.size,
  }
}

const oldest = (turns: ReadonlySet<RealtimeTurn>): RealtimeTurn | undefined => turns.values().next().value
