import { clientCodecOf, providerCodecOf } from '../codecs.ts'
import type { ClientCodec, ProviderCodec } from '../codec.ts'
import type { DialectId } from '../dialect.ts'
import { readError } from '../error-reading.ts'
import { chatCodec } from '../openai-chat/codec.ts'
import type { Traits } from '../traits.ts'

/** Returns what writes errors for clients of a dialect: those of OpenAI's operations have one form. */
export const clientErrorOf = (dialect: DialectId): ClientCodec['error'] => clientCodecOf(dialect)?.error ?? chatCodec.error

/** Returns what reads errors of a provider. A cloud reports its own, whatever format the model has. */
export function providerErrorOf({
  dialect,
  traits,
}: {
  readonly dialect: DialectId
  readonly traits: Traits
}): ProviderCodec['error']['decode'] {
  const codec = providerCodecOf(traits.host === 'bedrock' ? 'bedrock' : dialect)
  return codec === null ? readError : (status, body) => codec.error.decode(status, body)
}
