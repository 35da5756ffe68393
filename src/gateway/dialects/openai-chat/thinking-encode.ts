import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { dropWish, effortOf, effortTokens } from '../effort.ts'
import type { Loss } from '../neutral/loss.ts'
import type { Effort, NeutralRequest, Reasoning } from '../neutral/request.ts'
import type { ThinkingControl } from '../traits.ts'
import type { ModelFacts } from './model-facts.ts'

const nothing: Fields = {}

/** Writes how much a model thinks before it answers, in its provider's fields. */
export function writeThinking(request: NeutralRequest, facts: ModelFacts, context: EncodeContext): Fields {
  const { model, traits } = context
  const control = traits.thinking.find(({ models }) => models === undefined || models.test(model))
  if (control?.onlyStreamed === true && !request.stream) return writeWhole(control, request, context)
  const asked = writeAsked(request, { control, facts }, context)
  return control?.always === undefined ? asked : { ...control.always, ...asked }
}

/** Switches thinking off for an answer that comes whole. */
function writeWhole({ off = nothing }: ThinkingControl, { reasoning, maxTokens }: NeutralRequest, { loss }: EncodeContext): Fields {
  const asksNone = reasoning === null || (effortOf(reasoning, maxTokens) === 'none' && reasoning.enabled !== true)
  if (!asksNone) loss.drop('reasoning', 'is known in streams alone there')
  return off
}

interface ThinkingFacts {
  readonly control: ThinkingControl | undefined
  readonly facts: ModelFacts
}

function writeAsked(request: NeutralRequest, { control, facts }: ThinkingFacts, context: EncodeContext): Fields {
  const { reasoning, maxTokens } = request
  if (reasoning === null) return nothing
  const { loss } = context
  const effort = effortOf(reasoning, maxTokens)
  if (hidingPlace(control, request) === undefined) dropWish(request, loss)
  if (!facts.reasons) {
    if (effort !== null && effort !== 'none') loss.drop('reasoning', 'is not known to this model')
    return nothing
  }
  if (control === undefined) return writeEffort(effort, facts, context)
  const asked = { effort, reasoning, request }
  return effort === 'none' ? writeOff(control, context) : writeOn(control, asked, context)
}

/** Returns the place of the field that hides the reasoning. It keeps back the signatures too, without which calls of tools cannot go on. */
const hidingPlace = (control: ThinkingControl | undefined, { reasoning, tools }: NeutralRequest): ThinkingControl['hideAt'] =>
  reasoning?.show === false && tools.length === 0 ? control?.hideAt : undefined

/** In the field of OpenAI's own models. */
function writeEffort(effort: Effort | null, { knowsNone }: ModelFacts, { loss }: EncodeContext): Fields {
  if (effort === null) return nothing
  if (effort !== 'none' || knowsNone) return { reasoning_effort: effort }
  loss.drop('reasoning', 'cannot be switched off for this model')
  return { reasoning_effort: 'low' }
}

function writeOff(control: ThinkingControl, { loss }: EncodeContext): Fields {
  if (control.off !== undefined) return control.off
  const word = control.efforts?.none
  if (word !== undefined) return withEffort(nothing, control, word)
  loss.drop('reasoning', 'cannot be switched off there')
  const least = nearestTo('minimal', control)
  return least === null ? nothing : withEffort(nothing, control, least.word)
}

interface ThinkingRequest {
  readonly effort: Effort | null
  readonly reasoning: Reasoning
  readonly request: NeutralRequest
}

function writeOn(control: ThinkingControl, asked: ThinkingRequest, { loss }: EncodeContext): Fields {
  const { effort, reasoning, request } = asked
  const hideAt = hidingPlace(control, request)
  const hidden = (fields: Fields): Fields => (hideAt === undefined ? fields : placed(fields, hideAt, true))
  if (effort === null && reasoning.budget === null && reasoning.enabled !== true) return hidden(nothing)
  if (control.on === undefined && control.efforts === undefined && control.budget === undefined) {
    loss.drop('reasoning', 'is not steered there')
    return nothing
  }
  if (control.freeChoice === true && request.toolChoice?.mode === 'required')
    loss.refuse('toolChoice', 'forces a tool, which this provider refuses while it thinks')
  return hidden(writeAmount(control, asked, loss))
}

/** A requested budget goes before an effort; where only one of both has a field, the other is derived from it. */
function writeAmount(control: ThinkingControl, { effort, reasoning }: ThinkingRequest, loss: Loss): Fields {
  const fields = control.on ?? nothing
  const asked = reasoning.budget !== null && reasoning.budget > 0 ? reasoning.budget : null
  const tokens = asked ?? (effort === null || control.efforts !== undefined ? null : effortTokens[effort])
  if (control.budget !== undefined && tokens !== null) return placed(fields, control.budget.at, withinBudget(tokens, control.budget, loss))
  return effort === null ? fields : writeNearest(fields, { control, effort, loss })
}

interface EffortFit {
  readonly control: ThinkingControl
  readonly effort: Effort
  readonly loss: Loss
}

function writeNearest(fields: Fields, { control, effort, loss }: EffortFit): Fields {
  const nearest = nearestTo(effort, control)
  if (nearest === null) loss.drop('reasoning', 'is only switched on or off there')
  else if (nearest.effort !== effort) loss.drop('reasoning', `knows no ${effort} there`)
  return nearest === null ? fields : withEffort(fields, control, nearest.word)
}

function withinBudget(tokens: number, { min = 1, max = Infinity }: NonNullable<ThinkingControl['budget']>, loss: Loss): number {
  const bounded = Math.min(max, Math.max(min, tokens))
  if (bounded !== tokens) loss.drop('reasoning', `must be from ${min} to ${max} tokens there`)
  return bounded
}

const order = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[]

/** Returns the known effort that is asked for, else the next one above it, else the most of all; never `none`. Null: none is known. */
function nearestTo(asked: Effort, { efforts = {} }: ThinkingControl): { readonly effort: Effort; readonly word: string } | null {
  const able = order.flatMap((effort) => {
    const word = efforts[effort]
    return effort === 'none' || word === undefined ? [] : [{ effort, word }]
  })
  return able.find(({ effort }) => order.indexOf(effort) >= order.indexOf(asked)) ?? able.at(-1) ?? null
}

const withEffort = (fields: Fields, { effortAt = ['reasoning_effort'] }: ThinkingControl, word: string): Fields =>
  placed(fields, effortAt, word)

/** Returns fields with a value at a place, which may lie within one of them. */
function placed(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  if (rest.length === 0) return { ...fields, [name]: value }
  const inner = fields[name]
  return { ...fields, [name]: placed(isFields(inner) ? inner : nothing, rest, value) }
}
