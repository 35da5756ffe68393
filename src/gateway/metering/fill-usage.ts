import { isFields } from '../../lib/json/fields.ts'
import type { Attempt } from '../attempts/attempt.ts'
import type { RelayResult } from '../answers/relay.ts'
import { asksSound } from '../dialects/asks-sound.ts'
import { outputTokens, promptTokens } from '../dialects/neutral/disjoint.ts'
import type { AskedWork } from '../operations/asked-work.ts'
import type { MatchedOperation } from '../operations/match.ts'
import type { Task } from '../operations/operations.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { Target } from '../targets/target.ts'
import type { ReadBefore } from '../limits/read-before.ts'
import { type DeliveredAnswer, fillCounts } from '../tokens/estimate-usage.ts'
import { isRecalled } from './is-recalled.ts'
import { type MeteredUsage, withCounts } from './meter.ts'
import { hidesOutput } from './unseen.ts'

/** The facts of the exchange that an attempt belongs to. */
export interface ChargedExchange {
  readonly operation: MatchedOperation
  readonly method: string
  /** The work that its call asks for; null: none. */
  readonly work: AskedWork | null
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** The part of its prompt that its provider keeps; absent: none. */
  readonly before?: ReadBefore | undefined
}

/** The part of an answer that is charged. */
export type ChargedAnswer = Pick<RelayResult, 'status' | 'outcome' | 'stream' | 'capture' | 'encoding' | 'told' | 'counted'>

/** The tasks whose tokens can be estimated, and those of them that sell answers by the token. */
const estimatedTasks: Readonly<Partial<Record<Task, { readonly sellsOutput: boolean }>>> = {
  conversation: { sellsOutput: true },
  completion: { sellsOutput: true },
  embedding: { sellsOutput: false },
}

interface ChargeInput {
  readonly attempt: Attempt
  readonly target: Target
  readonly prices: PriceSource
  readonly exchange: ChargedExchange
  readonly expected: ExpectedReader
  readonly hidesInput: InputReader
  readonly work: AskedWork | null
}

/**
 * Estimates the charged tokens that a provider did not state, or not to the end. A statement that none were used counts; the answer may contradict it. Hidden thinking, sound, and contents that the body only names or packs are in no estimate: the cost is a lower bound then, and budgets keep the reservation.
 */
export function filled(told: MeteredUsage, result: ChargedAnswer, input: ChargeInput & { readonly hasEnded: boolean }): MeteredUsage {
  const { attempt, work, hasEnded } = input
  if (!isCharged(result) || isRecalled(attempt) || (told.hasTokens && isToldWhole(result, hasEnded))) return told
  if (!isEstimable(work)) return uncounted(told, isUnseen(result, input))
  if (isUnseen(result, input)) return unseen(told, deliveredBy(result), { ...input, work })
  const full = estimated(told, deliveredBy(result), { ...input, work, expected: 0 })
  if (told.toldNone && result.outcome === 'complete') return { ...told, inconsistent: outputTokens(full.counts) > 0 }
  return sellsOutput(work) && hides(told, { ...input, work }) ? withUnseen(full) : full
}

/** Units that stand in the request, such as images, are those of an answer that nobody saw. */
const uncounted = (told: MeteredUsage, isGuess: boolean): MeteredUsage =>
  isGuess && told.raw === null ? { ...told, estimated: true } : told

type EstimableInput = ChargeInput & { readonly work: Estimable }

/** Returns true if the model may have used tokens that are in no answer. */
const hides = ({ model }: MeteredUsage, { attempt, target, work: { dialect }, prices }: EstimableInput): boolean =>
  hidesOutput({ json: attempt.body?.json, dialect, provider: target.providerId, models: [model, target.model] }, prices)

/** Returns true if the usage in an answer is that of all of it, and not of the part of a stream that came. */
const isToldWhole = ({ outcome, stream }: ChargedAnswer, hasEnded: boolean): boolean => outcome === 'complete' || !stream || hasEnded

/** Returns true if the prompt of a body may have tokens that the body does not show. */
export type InputReader = (json: unknown) => boolean

export const withUnseen = (full: MeteredUsage): MeteredUsage => ({ ...full, counts: { ...full.counts, unseen_output: 1 } })

type Estimable = AskedWork & { readonly task: Task }
export const isEstimable = (work: AskedWork | null): work is Estimable =>
  work !== null && work.task !== null && estimatedTasks[work.task] !== undefined

/** The status of an answer whose caller has left; no provider sends it. */
export const leftStatus = 499

/** A caller who leaves before the answer begins is charged: the provider has the request. */
export const isCharged = ({ status, outcome }: ChargedAnswer): boolean =>
  (status >= 200 && status < 300) || (status === leftStatus && outcome === 'client_closed')

const sellsOutput = ({ task }: Estimable): boolean => estimatedTasks[task]?.sellsOutput ?? false

interface EstimatedAttempt extends Pick<ChargeInput, 'attempt' | 'hidesInput' | 'exchange'> {
  readonly work: Estimable
  /** So many tokens its answer is expected to have at least. */
  readonly expected: number
}

const deliveredBy = ({ capture, encoding, stream, outcome }: ChargedAnswer): DeliveredAnswer => ({
  head: capture.plain(encoding),
  size: capture.size,
  stream,
  isCut: outcome !== 'complete',
})

export const nothingSeen: DeliveredAnswer = { head: Buffer.alloc(0), size: 0, stream: false, isCut: true }

/** Returns true for an answer that was made whole, or still is, while nobody reads it to its end. A stream ends when its reader leaves. */
const isUnseen = ({ outcome, stream, status }: ChargedAnswer, { attempt }: ChargeInput): boolean =>
  outcome !== 'complete' && !stream && !(status === leftStatus && asksStream(attempt))

const asksStream = ({ body, path, translated }: Attempt): boolean =>
  translated?.stream === true || (isFields(body?.json) && body.json['stream'] === true) || streamPath.test(path ?? '')

/** Google and Bedrock name it in the path. */
const streamPath = /:streamGenerateContent|-stream(?:$|[/?])/

/** Estimates an answer of which nobody saw the end: its output is as much as the request allows, or else as is usual. */
export function unseen(told: MeteredUsage, seen: DeliveredAnswer, input: EstimableInput): MeteredUsage {
  const { attempt, target, work, prices, exchange } = input
  if (!sellsOutput(work)) return estimated(told, seen, { ...input, expected: 0 })
  const { tokens, isSure } = input.expected(attempt, target, { exchange, prices })
  const full = { ...estimated(told, seen, { ...input, expected: tokens }), isGuess: true as const }
  return (!isSure || asksSound(attempt.body?.json)) && hides(told, input) ? withUnseen(full) : full
}

/** The output that a request is expected to have. */
export interface ExpectedOutput {
  readonly tokens: number
  /** True if the request names it, in a field that its provider reads. */
  readonly isSure: boolean
}

/** Reads the output that the request of an attempt is expected to have. */
export type ExpectedReader = (
  attempt: Attempt,
  target: Target,
  about: { readonly exchange: ChargedExchange; readonly prices: PriceSource },
) => ExpectedOutput

function estimated(
  told: MeteredUsage,
  answer: DeliveredAnswer,
  { attempt, work, expected, hidesInput, exchange }: EstimatedAttempt,
): MeteredUsage {
  const json = attempt.body?.json
  const counts = fillCounts(told.counts, {
    request: {
      json: attempt.body?.json,
      size: attempt.body?.bytes?.length ?? 0,
      dialect: work.dialect,
      model: attempt.target?.model ?? null,
    },
    answer,
    expected,
    sellsOutput: sellsOutput(work),
    before: exchange.before,
  })
  if (counts === told.counts) return told
  const isShown = promptTokens(told.counts) > 0 || !hidesInput(json)
  return withCounts(told, isShown ? counts : { ...counts, unseen_input: 1 })
}
