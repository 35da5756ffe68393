import type { NeutralEvent } from './events.ts'
import type { Finish, FinishReason } from './finish.ts'

/** The reasons in whose place a call stands: clients make no calls that the reason does not name. */
const beforeCalls: ReadonlySet<FinishReason> = new Set(['stop', 'stop-sequence', 'other'])

/** Returns a finish that fits what was said: models stop behind a call for the call, and for no call where there is none. */
function fitting(finish: Finish, called: boolean): Finish {
  if (called) return beforeCalls.has(finish.reason) ? { ...finish, reason: 'tool-calls', stopSequence: null } : finish
  return finish.reason === 'tool-calls' ? { ...finish, reason: 'stop' } : finish
}

/** Returns what makes the finish of each choice of an answer fit its content, whatever its provider says. */
export function fitFinishes(): (event: NeutralEvent) => NeutralEvent {
  const called = new Set<number>()
  return (event) => {
    if (event.type === 'block-start' && event.block.kind === 'tool-call') called.add(event.choice)
    return event.type === 'finish' ? { ...event, finish: fitting(event.finish, called.has(event.choice)) } : event
  }
}
