import type { Citation, NeutralEvent } from './events.ts'
import type { Finish, FinishReason } from './finish.ts'

/** The reasons in whose place a call stands: clients make no calls that the reason does not name. */
const beforeCalls: ReadonlySet<FinishReason> = new Set(['stop', 'stop-sequence', 'other'])

/** Returns a finish that fits the content: models stop behind a call for the call, and for no call where there is none. */
function fitting(finish: Finish, called: boolean): Finish {
  if (called) return beforeCalls.has(finish.reason) ? { ...finish, reason: 'tool-calls', stopSequence: null } : finish
  return finish.reason === 'tool-calls' ? { ...finish, reason: 'stop' } : finish
}

type OfCitation = NeutralEvent & { readonly type: 'citation' }

const none: readonly NeutralEvent[] = []

/** An answer has so many sources at most, of so many characters together: one source may be named by any number of places. */
const [mostSources, mostCharacters] = [4096, 1024 * 1024]

/** Returns a function that takes the sources of an answer as long as they are not too many. */
function boundSources(): (citation: Citation) => boolean {
  let [sources, characters] = [0, 0]
  return ({ url, title, quote }) => {
    const more = (url?.length ?? 0) + (title?.length ?? 0) + (quote?.length ?? 0)
    if (sources >= mostSources || characters + more > mostCharacters) return false
    sources += 1
    characters += more
    return true
  }
}

/**
 * Returns a function that makes the events of an answer fit each other, for any provider: the finish of each choice its content, and
 * sources their text, behind all of which they come, since one that names no place is of the whole block. Too many sources are left out.
 */
export function fitAnswer(): (event: NeutralEvent) => NeutralEvent | readonly NeutralEvent[] {
  const called = new Set<number>()
  const cited = new Map<number, OfCitation[]>()
  const fits = boundSources()
  return (event) => {
    if (event.type === 'citation') {
      if (!fits(event.citation)) return none
      const list = cited.get(event.choice)
      if (list === undefined) cited.set(event.choice, [event])
      else list.push(event)
      return none
    }
    if (event.type === 'block-end') {
      const list = cited.get(event.choice)
      if (list === undefined) return event
      cited.delete(event.choice)
      return [...list, event]
    }
    if (event.type === 'block-start' && event.block.kind === 'tool-call') called.add(event.choice)
    return event.type === 'finish' ? { ...event, finish: fitting(event.finish, called.has(event.choice)) } : event
  }
}
