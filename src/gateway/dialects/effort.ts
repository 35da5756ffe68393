import type { DialectId } from './dialect.ts'
import type { Loss } from './neutral/loss.ts'
import type { Effort, NeutralRequest, Reasoning } from './neutral/request.ts'

const efforts: ReadonlySet<string> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

export const isEffort = (value: unknown): value is Effort => typeof value === 'string' && efforts.has(value)

/** The share of the cap that a budget for thinking has, by effort. */
const shares: Readonly<Record<Effort, number>> = { none: 0, minimal: 0, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.9 }

/** Returns the budget of an effort in tokens, at least `min`, for an answer of at most so many tokens. */
export const budgetOf = (effort: Effort, maxTokens: number, min: number): number => Math.max(min, Math.floor(maxTokens * shares[effort]))

/** The tokens of an effort where thinking has a budget of its own, beside the cap of the answer. */
export const effortTokens: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 4096,
  high: 8192,
  xhigh: 16_384,
  max: 16_384,
}

/** Returns the effort that a request means: its own, or that of its budget; null when it leaves it to the model. */
export function effortOf({ effort, budget, enabled }: Reasoning, maxTokens: number | null): Effort | null {
  if (effort !== null) return effort
  if (enabled === false || budget === 0) return 'none'
  if (budget === null || budget < 0) return null
  const share = budget / Math.max(1, maxTokens ?? budget * 2)
  if (share < 0.2) return 'low'
  if (share < 0.5) return 'medium'
  return share < 0.8 ? 'high' : 'xhigh'
}

/** The fields by which callers choose whether they want to read a model's thoughts, beside how much it thinks. */
const wishes: Readonly<Partial<Record<DialectId, string>>> = {
  'openai-chat': 'thinking.display',
  'openai-responses': 'reasoning.summary',
  anthropic: 'thinking.display',
}

/** Notes the wish to read thoughts, or not to, for a provider that decides that itself. Anthropic's clients express it by thinking at all. */
export function dropWish({ dialect, reasoning }: NeutralRequest, loss: Loss): void {
  const place = wishes[dialect]
  if (place === undefined || reasoning === null || reasoning.show === null || reasoning.enabled === false || reasoning.effort === 'none')
    return
  if (reasoning.show && dialect === 'anthropic') return
  loss.dropAt(place, 'cannot be wished for there')
}
