import { z } from 'zod'
import type { JsonPath } from '../../lib/json/json-path.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { TextPart } from '../dialects/neutral/texts.ts'
import type { Egress } from '../egress/egress.ts'

/** Before the call on the request, after it on the answer. */
export type Phase = 'input' | 'output'

/** The facts of a request that checks may see, in either phase. */
export interface RequestFacts {
  /** The JSON body as it will be sent; undefined when there is none. */
  readonly json: unknown
  readonly method: string
  /** Path below `/v1`, without query, in its plain spelling. */
  readonly path: string
  /** A dedicated operation, however its path was spelt, or `proxy`. */
  readonly operation: string
  /** In which the body is written; null: not known. */
  readonly dialect: DialectId | null
  /** True when a prompt made it: then it was asked for as a prompt, and is sent as the operation. */
  readonly prompted: boolean
  readonly stream: boolean
  /** As the caller named it; null when the body names none. */
  readonly model: string | null
  /** Every model that its body, its form and its path name, in the same words: a provider may read any of them. */
  readonly models: () => readonly string[]
  readonly provider: string
  readonly metadata: Readonly<Record<string, string>>
  /** A header of the caller's by its name in lower case; never one that holds a key of ours. */
  readonly header: (name: string) => string | undefined
}

/** The subject of a check. */
export interface Subject {
  readonly phase: Phase
  /** The texts within the scope of the check. */
  readonly parts: readonly TextPart[]
  readonly request: RequestFacts
  /** The answer; null before the call. */
  readonly response: { readonly json: unknown; readonly status: number } | null
  /** True when it is the beginning of a stream, of which more may come. */
  readonly unfinished?: boolean
}

/** A new value for a part of the body that the check looked at. */
export interface BodyEdit {
  readonly path: JsonPath
  readonly value: unknown
}

/** The finding of a check. */
export interface Verdict {
  readonly passed: boolean
  /** The facts about it in `hook_results`. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly edits?: readonly BodyEdit[]
  /** Headers for the provider, flat; of the caller's those whose names begin with `replaces` are dropped. */
  readonly headers?: { readonly added: readonly string[]; readonly replaces: string }
}

/** Credentials of a partner that are stored apart from guardrails, and the address that they go to. */
export interface StoredCredentials {
  readonly fields: Readonly<Record<string, unknown>>
  /** Null: the address of the partner. */
  readonly baseUrl: string | null
}

/** Finds the stored credentials of a partner for the caller: those of the workspace, else those of the organisation. Null when there are none. */
export type FindCredentials = (plugin: string) => MaybePromise<StoredCredentials | null>

export interface CheckContext {
  readonly egress: Egress
  readonly credentials: FindCredentials
  /** The organisation of the caller. */
  readonly organisationId: string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** The longest call to a service. */
  readonly timeoutMs: number
  /** True when it may pass on credentials of callers: the organisation's own guardrails may, when they say so. */
  readonly passesCredentials: boolean
}

/** A check with its parameters, ready to run many times. */
export interface ReadyCheck {
  /**
   * Rejects or throws when it cannot decide. If a service fails, `on_error` decides. A fault that the sender of the text can cause counts as a
   * failure of the check: local checks can fail for no other reason, one that calls a service throws it with `cannotTell`.
   */
  readonly run: (subject: Subject, context: CheckContext) => MaybePromise<Verdict>
  /** True when a failure on the beginning of a text stays one with any continuation, so that a stream may be judged as it comes. */
  readonly judgesPrefix: boolean
  /** How many characters back a failure may reach: so much of a stream is held until more is known. */
  readonly reachesBack?: number
  /** False: with these parameters it makes no changes. */
  readonly changes?: boolean
}

/** The texts of a conversation that a check looks at: all of it, the last message, or those of one role. */
export const scopes = ['all', 'last', 'user', 'system', 'assistant', 'tool'] as const
export type Scope = (typeof scopes)[number]

/** The source of a wire format: the partner's public documents, or only the requests of other clients. The guide states it. */
export type Basis = 'documented' | 'observed'

/** A kind of check: its description, its parameters, and how it is made ready. */
export interface Check {
  readonly id: string
  readonly title: string
  /** One sentence for the guide. */
  readonly about: string
  /** The release that brings it. */
  readonly since: string
  readonly phases: readonly Phase[]
  /** `text`: it has no work without texts. `request`: it looks at the request itself. */
  readonly reads: 'text' | 'request'
  /** True when it needs to read the body, so that one that cannot be read is refused. */
  readonly readsBody: boolean
  /** True when it can decide on any text, because it stops reading as soon as it has a verdict; others do not decide on very long ones. */
  readonly anyLength: boolean
  /** True when it may change its input. */
  readonly changes: boolean
  /** The default limit of a call to a service in milliseconds; null: it calls none. */
  readonly timeoutMs: number | null
  /** Its own parameters and those that all checks take. */
  readonly parameters: z.ZodObject
  /** Parameters that hold secrets, or objects of secrets, as paths. */
  readonly secrets: readonly string[]
  /** Parameters that hold a URL which will be called, as paths. */
  readonly urls: readonly string[]
  /** The parameter by which credentials of callers would be passed on, with its effect in words; null: none. */
  readonly passesOn?: (parameters: Readonly<Record<string, unknown>>) => { readonly field: string; readonly what: string } | null
  /** The address that parameters name in another way than as a URL; null: they name none. */
  readonly serviceOf?: (parameters: unknown) => string | null
  /** Makes it ready; the parameters are those that the schema gave. */
  readonly ready: (parameters: unknown) => ReadyCheck
  /** For a partner's check: the source of the format of its calls. */
  readonly basis?: Basis
  /** For a partner's check that needs credentials: their fields, and the name under which they may be stored apart from it. */
  readonly account?: Account
}

/** Credentials of a partner, as one of its checks needs them. */
export interface Account {
  /** The partner: the text before the dot of its checks. */
  readonly plugin: string
  readonly schema: z.ZodObject<Readonly<Record<string, z.ZodType>>>
  /** Fields of it that are secret, as paths. */
  readonly secrets: readonly string[]
  /** Fields of it that hold a URL which will be called, as paths. */
  readonly urls: readonly string[]
}

type Shape = Readonly<Record<string, z.ZodType>>

interface Definition<Fields extends Shape> extends Partial<
  Pick<
    Check,
    | 'since'
    | 'phases'
    | 'reads'
    | 'readsBody'
    | 'anyLength'
    | 'changes'
    | 'timeoutMs'
    | 'secrets'
    | 'urls'
    | 'basis'
    | 'account'
    | 'serviceOf'
    | 'passesOn'
  >
> {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly fields: Fields
  /** A rule over several parameters: the fault, and the parameters in question. */
  readonly rule?: (parameters: z.output<z.ZodObject<Fields>>) => { readonly field: string; readonly message: string } | null
  readonly ready: (parameters: z.output<z.ZodObject<Fields>>) => ReadyCheck
}

const shared = {
  scope: z
    .enum(scopes)
    .default('all')
    .meta({ description: 'Which texts of the conversation are looked at: all, the last message, or those of one role.' }),
  on_error: z
    .enum(['allow', 'deny'])
    .optional()
    .meta({ description: 'The verdict when a called service fails or takes too long; by default, as the guardrail denies.' }),
  failOnError: z.boolean().optional().meta({ description: 'The older form of `on_error`: true is `deny`, false is `allow`.' }),
}

const timeout = (ms: number) => z.int().min(1).max(60_000).default(ms).meta({ description: 'The milliseconds that the call may take.' })

/** Defines a check. */
export function check<Fields extends Shape>(definition: Definition<Fields>): Check {
  const { fields, rule, ready, timeoutMs = null } = definition
  const own = z.object(fields)
  const schema = z.strictObject({ ...fields, ...shared, ...(timeoutMs !== null && { timeout: timeout(timeoutMs) }) })
  const parameters = schema.superRefine((given, context) => {
    const parsed = own.safeParse(given)
    const fault = parsed.success ? rule?.(parsed.data) : undefined
    if (fault) context.addIssue({ code: 'custom', path: [fault.field], message: fault.message })
  })
  return {
    since: '1.3.0',
    phases: ['input', 'output'],
    reads: 'text',
    readsBody: true,
    anyLength: false,
    changes: false,
    secrets: [],
    urls: [],
    ...definition,
    timeoutMs,
    parameters,
    ready: (given) => ready(own.parse(given)),
  }
}

const ofSubject = Symbol('by the doing of whoever sent it')

/** Marks a check that cannot decide because of its input, which its sender controls. */
export const cannotTell = (message: string): Error => new Error(message, { cause: ofSubject })

/** Returns whether a check cannot decide for such a reason. */
export const isOfSubject = (error: unknown): boolean => error instanceof Error && error.cause === ofSubject

/** `not: true` turns a verdict around. */
export const notField = z.boolean().default(false).meta({ description: 'Turns the verdict around.' })

/** All texts, one part a line. */
export const textOf = ({ parts }: Pick<Subject, 'parts'>): string =>
  parts.length === 1 ? (parts[0]?.text ?? '') : parts.map(({ text }) => text).join('\n')

/** A verdict with its reason in words. */
export const verdict = (passed: boolean, explanation: string, more: Readonly<Record<string, unknown>> = {}): Verdict => ({
  passed,
  data: { explanation, ...more },
})
