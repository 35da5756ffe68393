import type { Behaviour } from '../support/emulator/behaviour.ts'
import { json } from '../support/dialects/strict.ts'
import type { Emulator } from '../support/emulator/emulator.ts'
import type { Lines, ProviderSide, Say } from './talk.ts'

/**
 * Lets an emulator answer as a provider does: it refuses the same requests as the real one, and gives one answer after the other. Returns its
 * requests.
 */
export function listen(
  emulator: Emulator,
  side: ProviderSide,
  says: readonly Say[],
  change: (answer: Behaviour) => Behaviour = (same) => same,
) {
  const heard: Lines[] = []
  emulator.script({
    behaviour: (received) => {
      const followed = side.follow?.(received) ?? null
      if (followed !== null) return followed.isStream ? change(followed.answer) : followed.answer
      const refusal = side.refusal(received)
      if (refusal !== null) return json(side.error(400, `strict: ${refusal}`), 400)
      const say = says[heard.length] ?? says.at(-1)
      heard.push(side.heard(received))
      if (say === undefined) return json(side.error(400, 'nothing is left to say'), 400)
      if (side.begin !== undefined) return side.begin(say, received)
      return change(side.isStream(received) ? side.stream(say, received) : side.whole(say, received))
    },
  })
  return heard
}
