import type { NeutralRequest, RequestField } from './request.ts'

/** Values that equal the default. Clients write them into every request. */
const idle: Readonly<Partial<Record<RequestField, readonly unknown[]>>> = {
  temperature: [1],
  topP: [1],
  candidates: [1],
  logprobs: [false],
  topLogprobs: [0],
  frequencyPenalty: [0],
  presencePenalty: [0],
  logitBias: [{}],
  metadata: [{}],
  verbosity: ['medium'],
  tier: ['auto'],
  store: [false],
}

/** Returns true if it is no loss that a provider has no place for a field of this request. */
export function isIdle(request: NeutralRequest, field: RequestField): boolean {
  const [value, asked] = [idle[field], request[field]]
  if (value === undefined) return false
  return value.some((one) => one === asked || (typeof one === 'object' && isEmpty(asked)))
}

const isEmpty = (asked: unknown): boolean => typeof asked === 'object' && asked !== null && Object.keys(asked).length === 0
