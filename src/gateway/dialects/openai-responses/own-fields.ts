import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { isForeignSignature } from '../neutral/signature.ts'

/** Returns a request without the reasoning that providers of other dialects signed: a provider that has responses itself cannot verify it. */
export function withoutForeignReasoning(body: Fields, loss: Loss): Fields {
  const { input } = body
  if (!Array.isArray(input)) return body
  const given: readonly unknown[] = input
  const own = given.filter((item, at) => {
    const isForeign = isFields(item) && item['type'] === 'reasoning' && isForeignSignature(item['encrypted_content'], 'openai')
    if (isForeign) loss.dropAt(`input[${at}]`, 'was signed for another provider')
    return !isForeign
  })
  return own.length === given.length ? body : { ...body, input: own }
}
