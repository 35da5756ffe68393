import type { Fields } from '../../../lib/json/fields.ts'
import { budgetOf, effortOf } from '../effort.ts'
import type { Loss } from '../neutral/loss.ts'
import type { Effort, NeutralRequest, Reasoning } from '../neutral/request.ts'
import type { Level, ModelFacts } from './model-facts.ts'

/** Writes how much the model thinks; null: as it likes. */
export function writeThinking({ reasoning, maxTokens }: NeutralRequest, facts: ModelFacts, loss: Loss): Fields | null {
  if (reasoning === null) return null
  const effort = effortOf(reasoning, maxTokens)
  if (facts.thinking === 'none') {
    if (effort !== 'none') loss.drop('reasoning', 'is not known to this model')
    return null
  }
  if (effort === 'none') return writeRest(facts, loss)
  const amount = facts.thinking === 'budget' ? writeBudget(reasoning, effort, { facts, maxTokens, loss }) : writeLevel(effort, facts)
  return { ...amount, ...(reasoning.show !== false && { includeThoughts: true }) }
}

/** Some models always think: then they think as little as they can. */
function writeRest({ thinking, canRest, minBudget, levels }: ModelFacts, loss: Loss): Fields {
  if (canRest) return { thinkingBudget: 0 }
  loss.drop('reasoning', 'cannot be switched off for this model')
  return thinking === 'budget' ? { thinkingBudget: minBudget } : { thinkingLevel: levels[0] }
}

interface BudgetBounds {
  readonly facts: ModelFacts
  readonly maxTokens: number | null
  readonly loss: Loss
}

/** Models of the 2.5 kind answer with so many tokens at most. */
const mostOutput = 65_536

function writeBudget({ budget, effort: asked }: Reasoning, effort: Effort | null, { facts, maxTokens, loss }: BudgetBounds): Fields {
  const { minBudget, maxBudget } = facts
  if (budget === -1) return { thinkingBudget: -1 }
  if (budget !== null && budget > 0) {
    const clamped = Math.min(maxBudget, Math.max(minBudget, budget))
    if (clamped !== budget) loss.drop('reasoning', `was brought within ${minBudget} and ${maxBudget} tokens`)
    return { thinkingBudget: clamped }
  }
  if (effort === null) return {}
  if (effort === 'minimal') return { thinkingBudget: Math.max(minBudget, 512) }
  const isMost = asked === 'xhigh' || asked === 'max'
  const wanted = isMost ? maxBudget : budgetOf(effort, maxTokens ?? mostOutput, 1024)
  const cap = maxTokens === null ? maxBudget : Math.min(maxBudget, Math.max(minBudget, maxTokens - 1))
  return { thinkingBudget: Math.min(wanted, cap) }
}

/** The levels that an effort stands for, the best first. */
const wanted: Readonly<Record<Effort, readonly Level[]>> = {
  none: ['MINIMAL', 'LOW'],
  minimal: ['MINIMAL', 'LOW'],
  low: ['LOW'],
  medium: ['MEDIUM', 'HIGH'],
  high: ['HIGH'],
  xhigh: ['HIGH'],
  max: ['HIGH'],
}

function writeLevel(effort: Effort | null, { levels }: ModelFacts): Fields {
  if (effort === null) return {}
  const level = wanted[effort].find((one) => levels.includes(one))
  return level === undefined ? {} : { thinkingLevel: level }
}
