import type { Loss } from './neutral/loss.ts'
import type { NeutralRequest, RequestField } from './neutral/request.ts'

/** Refuses features that a format with one answer, in text, cannot have, and drops the steering that it has no field for. */
export function refuseBeyondText(request: NeutralRequest, dropped: readonly RequestField[], loss: Loss): void {
  if ((request.candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (request.modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  if (request.logprobs === true) loss.refuse('logprobs', 'asks for values that this provider does not return')
  for (const field of dropped) if (request[field] !== null && !(field === 'tier' && request.tier === 'auto')) loss.drop(field)
  if (request.store === true) loss.drop('store')
  if (request.parallelTools === false) loss.drop('parallelTools')
}
