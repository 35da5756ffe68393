import type { Caller } from './callers/identify.ts'
import type { GuardrailPlan } from './checks/plan.ts'
import type { ChosenConfig, TargetConfig } from './config/choose.ts'
import type { Exchange } from './exchange/exchange.ts'
import type { MatchedOperation } from './operations/match.ts'
import type { ReadBefore } from './limits/read-before.ts'
import type { Trace } from './front/metadata.ts'
import type { AskedWork } from './operations/asked-work.ts'
import type { Prompt } from './prompts/prompt.ts'
import type { Target } from './targets/target.ts'
import type { RequestBody } from './wire/body.ts'
import type { CallerHeaders } from './wire/headers.ts'

/** The head of a call: the parts of a request before its body, and its caller. */
export interface CallHead {
  readonly exchange: Exchange
  readonly caller: Caller
  readonly headers: CallerHeaders
  readonly trace: Trace
  readonly metadata: Readonly<Record<string, string>>
  /** Path and query below `/v1`, as the client sent them, without a key of ours. */
  readonly path: string
  readonly operation: MatchedOperation
  /** The config of the target. Null for most requests, and of one with a course until a target is chosen. */
  readonly config: TargetConfig | null
  /** The config of a call that may be sent to several targets, or more than once; null for most requests. */
  readonly course: ChosenConfig | null
  /** The guardrails that the request must pass; null for most. Each target of a course has its own. */
  readonly guardrails: GuardrailPlan | null
}

/** A call: the complete request of the caller. No step changes a call; prompts make another one of it. */
export interface Call extends CallHead {
  /** The path that goes on to the provider: without the slug of a model, or that of the chat completion which a prompt makes. */
  readonly upstreamPath: string
  /** The work that it asks for, as far as method and path show it; null: none. Limits, policies and charges go by it. */
  readonly work: AskedWork | null
  /** The model that the path or a form names, as the caller wrote it. */
  readonly model: string | null
  /** Null: no JSON. An attempt opens such a body with the parts that its target needs, and can do so once. */
  readonly body: RequestBody | null
  /** By how many bytes a form is shorter than it was declared, since the slug of its model was taken out. */
  readonly shortenedBy: number
  readonly prompt: Prompt | null
  /** The body of a request for a prompt, as the client sent it; null: the request named none. */
  readonly promptRequest: unknown
  /** The kept response that the call continues, whose conversation is in its body already; null: there is none. */
  readonly previousResponse: string | null
  /** Null: the caller waits for the answer. */
  readonly mirror: MirrorOrigin | null
  /** The part of its prompt that its provider keeps; absent: the body is all of it. */
  readonly before?: ReadBefore
  /** True for work that the provider does although it was refused: it is charged, and not refused again. */
  readonly isOwed?: true
}

/** A call that is a copy of another one, for a mirror. */
export interface MirrorOrigin {
  /** The exchange that it was copied from. */
  readonly of: string
  /** False: it counts for the limits of its provider alone. */
  readonly billed: boolean
}

/** A call on its way to one target: the body that guardrails see, and the request that is sent. */
export interface AimedCall {
  readonly call: Call
  readonly target: Target
  readonly body: RequestBody
}
