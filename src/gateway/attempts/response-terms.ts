import type { AimedCall } from '../call.ts'
import type { AskedConversation } from '../dialects/translate.ts'
import { isFields } from '../../lib/json/fields.ts'
import { listedFacts } from '../models/listed-facts.ts'
import type { PriceSource } from '../prices/price-source.ts'

/** The part of Gatehouse in a response whose provider has no such API. */
export interface ResponseTerms {
  /** True if the answer is kept. */
  readonly keeps: boolean
  readonly asked: Pick<AskedConversation, 'echo' | 'truncateTo'>
}

export interface TermsOptions {
  /** True while Gatehouse keeps responses at all. */
  readonly keepsResponses: boolean
  readonly prices: Pick<PriceSource, 'facts'>
}

/** The terms of a request for anything else. */
export const noTerms: ResponseTerms = { keeps: false, asked: {} }

/** Returns the terms of a request for a response by this model. */
export function responseTerms(
  { call, target, body }: AimedCall,
  model: string | null,
  { keepsResponses, prices }: TermsOptions,
): ResponseTerms {
  const json = isFields(body.json) ? body.json : {}
  const keeps = keepsResponses && call.mirror === null && json['store'] !== false
  const limits = json['truncation'] === 'auto' && model !== null ? listedFacts(prices, target.providerId, model)?.limits : undefined
  const truncateTo = limits?.input ?? limits?.context
  const echo = { store: keeps, previous_response_id: call.previousResponse }
  return { keeps, asked: truncateTo === undefined ? { echo } : { echo, truncateTo } }
}
