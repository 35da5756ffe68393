import type { z } from 'zod'
import type { Check, Phase, ReadyCheck, Scope } from './check.ts'
import { type CheckRelease, releasesOfCheck } from './check-release.ts'
import { scopes } from './check.ts'
import { type CheckEntry, checksOf, type guardrailActions, type InlineGuardrail, phasesOf, spelledOut } from './guardrail.schema.ts'
import { findCheck } from './registry.ts'

/** A score for the request. */
export interface Feedback {
  readonly value: number
  readonly weight: number
  readonly metadata: unknown
}

/** A check of a guardrail, ready to run. */
export interface GuardrailCheck {
  readonly definition: Check
  readonly ready: ReadyCheck
  /** The releases that it needs, with the parameters that were given. */
  readonly releases: readonly CheckRelease[]
  /** True when it may change its input, with the parameters it has. */
  readonly changes: boolean
  readonly scope: Scope
  /** The verdict that counts when a service that it asks fails. */
  readonly onError: 'allow' | 'deny'
  readonly timeoutMs: number
  /** True when it may pass on credentials of callers. */
  readonly passesCredentials: boolean
}

/** A guardrail, ready to run. */
export interface Guardrail {
  /** By which it is known, and runs once although it is named twice. */
  readonly id: string
  readonly name: string
  readonly deny: boolean
  readonly async: boolean
  readonly sequential: boolean
  /** The text for the caller of a denied request. */
  readonly message: string | null
  readonly onSuccess: Feedback | null
  readonly onFail: Feedback | null
  readonly checks: readonly GuardrailCheck[]
  /** The phases in which its checks look at something, those that are switched off included. */
  readonly phases: ReadonlySet<Phase>
}

/** A guardrail as it is stored. */
export interface GuardrailDefinition {
  readonly id: string
  readonly name: string
  readonly checks: readonly CheckEntry[]
  readonly actions: z.output<typeof guardrailActions>
  /** True when it is the organisation's own, made by those who may speak for all workspaces. */
  readonly ofOrganisation?: boolean
}

/** Makes a checked guardrail ready: once when it is loaded, not for each request. */
export function compileGuardrail({ id, name, checks, actions, ofOrganisation = false }: GuardrailDefinition): Guardrail {
  const { deny = false, async = false, message, sequential = false, on_success: success, on_fail: failure } = spelledOut(actions)
  return {
    id,
    name,
    deny,
    async,
    sequential,
    message: message ?? null,
    onSuccess: toFeedback(success, 5),
    onFail: toFeedback(failure, -5),
    checks: checks.filter(({ is_enabled: enabled }) => enabled !== false).map((entry) => readyCheck(entry, { deny, ofOrganisation })),
    phases: phasesOf(checks),
  }
}

/** A guardrail that stands in a config; without an id of its own it is known by its place. */
export const compileInline = (given: InlineGuardrail, place: string): Guardrail =>
  compileGuardrail({
    id: given.id ?? place,
    name: given.name ?? given.id ?? place,
    checks: checksOf(given),
    actions: { ...given, onFail: undefined },
  })

function toFeedback(
  given: { readonly feedback: { value?: number | undefined; weight?: number | undefined; metadata?: unknown } } | undefined,
  otherwise: number,
): Feedback | null {
  if (given === undefined) return null
  const { value = otherwise, weight = 1, metadata = '' } = given.feedback
  return { value, weight, metadata }
}

/** Local checks take no time worth a limit; the number is for those that call a service. */
const longestMs = 60_000

/** The settings that a check takes from its guardrail. */
interface CheckSettings {
  readonly deny: boolean
  readonly ofOrganisation: boolean
}

function readyCheck({ id, parameters = {} }: CheckEntry, { deny, ofOrganisation }: CheckSettings): GuardrailCheck {
  const definition = findCheck(id)
  if (definition === null) throw new Error(`There is no check ${id}.`)
  const parsed = definition.parameters.parse(parameters)
  const { scope, on_error: onError, failOnError, timeout } = parsed
  const ready = definition.ready(parsed)
  return {
    definition,
    ready,
    releases: releasesOfCheck(definition, parameters),
    changes: definition.changes && ready.changes !== false,
    scope: scopes.find((name) => name === scope) ?? 'all',
    onError: toOnError(onError ?? failOnError ?? deny),
    timeoutMs: typeof timeout === 'number' ? timeout : (definition.timeoutMs ?? longestMs),
    passesCredentials: ofOrganisation,
  }
}

const toOnError = (given: unknown): 'allow' | 'deny' => (given === true || given === 'deny' ? 'deny' : 'allow')
