import { createWeighed } from '../../lib/collections/weighed.ts'
import { leastOutput } from './estimate.ts'

/** How long the answers of a key and a model are, as this process has seen them in the last seven days at most. */
export interface UsualOutput {
  note(by: Speaker, tokens: number): void
  /** Returns so many tokens as 99 of 100 answers stay within; at least 1,024. */
  of(by: Speaker): number
}

export interface Speaker {
  readonly organisationId: string
  readonly keyId: string
  readonly model: string | null
}

/** Answers by length: those of up to 1,024 tokens, then four classes for each doubling, up to a million. */
const classes = 41
const perDoubling = 4
const share = 0.99
const generationMs = 3.5 * 24 * 3_600_000
/** Two generations of counts for so many pairs of keys and models take 5 MB. When there are more, those of the organisation with the most are evicted. */
const mostSpeakers = 10_000

interface OutputHistogram {
  newer: Uint32Array
  older: Uint32Array | null
  since: number
}

const classOf = (tokens: number): number =>
  tokens <= leastOutput ? 0 : Math.min(classes - 1, Math.ceil(Math.log2(tokens / leastOutput) * perDoubling))
const longestOf = (at: number): number => Math.ceil(leastOutput * 2 ** (at / perDoubling))

const nameOf = ({ keyId, model }: Speaker): string => `${keyId} ${model ?? ''}`

/** Keeps how long answers are. `now` is a clock in milliseconds. */
export function createUsualOutput(now: () => number): UsualOutput {
  const speakers = createWeighed<OutputHistogram>({ most: mostSpeakers, mostOfOne: mostSpeakers })
  const seenOf = (by: Speaker): OutputHistogram | undefined => speakers.get(by.organisationId, nameOf(by))
  return {
    note(by, tokens) {
      let seen = seenOf(by)
      if (seen === undefined) {
        seen = { newer: new Uint32Array(classes), older: null, since: now() }
        speakers.set(by.organisationId, nameOf(by), { value: seen, weight: 1 })
      }
      if (now() - seen.since > generationMs) {
        seen.older = now() - seen.since > 2 * generationMs ? null : seen.newer
        seen.newer = new Uint32Array(classes)
        seen.since = now()
      }
      const at = classOf(tokens)
      seen.newer[at] = (seen.newer[at] ?? 0) + 1
    },
    of(by) {
      const seen = seenOf(by)
      return seen === undefined ? leastOutput : percentile(seen)
    },
  }
}

function percentile({ newer, older }: OutputHistogram): number {
  const countAt = (at: number): number => (newer[at] ?? 0) + (older?.[at] ?? 0)
  let longer = 0
  for (let at = 0; at < classes; at += 1) longer += countAt(at)
  const mayBeLonger = Math.floor(longer * (1 - share))
  for (let at = 0; at < classes; at += 1) {
    longer -= countAt(at)
    if (longer <= mayBeLonger) return longestOf(at)
  }
  return leastOutput
}
