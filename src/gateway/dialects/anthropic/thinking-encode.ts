import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { budgetOf, dropWish, effortOf } from '../effort.ts'
import type { Effort, NeutralRequest, Reasoning } from '../neutral/request.ts'
import type { ModelFacts } from './model-facts.ts'

/** The fields by which a model of Anthropic's thinks. */
export interface ThinkingFields {
  readonly fields: Fields
  readonly effort: string | null
}

export const isThinking = ({ fields }: ThinkingFields): boolean => {
  const { thinking } = fields
  return typeof thinking === 'object' && thinking !== null && 'type' in thinking && thinking.type !== 'disabled'
}

export interface ThinkingInput {
  readonly request: NeutralRequest
  readonly facts: ModelFacts
  readonly maxTokens: number
}

const noThinking: ThinkingFields = { fields: {}, effort: null }

/** Writes how much the model thinks. */
export function writeThinking({ request, facts, maxTokens }: ThinkingInput, { loss }: EncodeContext): ThinkingFields {
  const { reasoning, toolChoice } = request
  if (reasoning === null) return noThinking
  const effort = effortOf(reasoning, request.maxTokens)
  if (effort === 'none') return facts.adaptive ? { fields: { thinking: { type: 'disabled' } }, effort: null } : noThinking
  if (!facts.canThink) {
    loss.drop('reasoning', 'is not known to this model')
    return noThinking
  }
  if (toolChoice?.mode === 'required') loss.refuse('toolChoice', 'forces a tool, which this provider refuses while it thinks')
  if (facts.adaptive) return { fields: { thinking: adaptive(reasoning.show) }, effort: effortWord(effort, facts) }
  if (reasoning.show === false) dropWish(request, loss)
  const budget = Math.min(askedBudget(reasoning, effort, maxTokens), maxTokens - 1)
  const hinders = lacksThinking(request.turns)
    ? 'cannot go on, since the reasoning of the last turn did not come back'
    : 'needs a cap above 1024 tokens'
  if (budget >= 1024 && !lacksThinking(request.turns))
    return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, effort: null }
  loss.drop('reasoning', hinders)
  return noThinking
}

const askedBudget = ({ budget }: Reasoning, effort: Effort | null, maxTokens: number): number =>
  budget !== null && budget > 0 ? Math.max(1024, budget) : budgetOf(effort ?? 'high', maxTokens, 1024)

/** Newer models keep the text to themselves unless it is asked for. */
const adaptive = (show: boolean | null): Fields => ({ type: 'adaptive', display: show === false ? 'omitted' : 'summarized' })

function effortWord(effort: Effort | null, { knowsXhigh }: ModelFacts): string | null {
  if (effort === null || effort === 'none') return null
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && !knowsXhigh ? 'max' : effort
}

/** A turn with calls that is still going on must begin with its reasoning. */
function lacksThinking(turns: NeutralRequest['turns']): boolean {
  const last = turns.findLastIndex(({ role }) => role === 'user')
  const going = turns.slice(last + 1).find(({ role }) => role === 'assistant')
  if (going === undefined) return false
  const [first] = going.parts
  return !(first?.kind === 'reasoning' && first.signature?.origin === 'anthropic')
}
