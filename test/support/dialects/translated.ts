import type { DialectId } from '../../../src/gateway/dialects/dialect.ts'
import { plainTraits, type Traits } from '../../../src/gateway/dialects/traits.ts'
import { translate } from '../../../src/gateway/dialects/translate.ts'

export type Body = Record<string, unknown>

/** Settings of a translation, beside the request. */
export interface Told {
  readonly traits?: Partial<Traits>
  readonly model?: string
  readonly strict?: boolean
}

/** Translates a request of one dialect to another, and proves that it stays as it was. */
export const translator =
  (from: DialectId, to: DialectId, base: Body) =>
  (fields: Body, { traits, model, strict = false }: Told = {}) => {
    const body = { ...base, ...fields }
    const before = JSON.stringify(body)
    const found = translate(
      { dialect: from, body, model: model ?? String(body['model']), stream: null, requestId: 'request-1', strict },
      { dialect: to, provider: 'provider', traits: { ...plainTraits, ...traits } },
    )
    if (found === null) throw new Error('nothing was translated')
    if (JSON.stringify(body) !== before) throw new Error('the input was changed')
    return { body: found.encoded.body as Body, dropped: found.loss.dropped, memory: found.encoded.memory, request: found.request }
  }
