import { clientCodecOf, providerCodecOf } from '../codecs.ts'
import type { ClientCodec, ProviderCodec } from '../codec.ts'
import type { DialectId } from '../dialect.ts'
import { readError } from '../error-reading.ts'
import { chatCodec } from '../openai-chat/codec.ts'
import type { Traits } from '../traits.ts'

/** Returns the error encoder for clients of a dialect: those of OpenAI's operations have one form. */
export const clientErrorOf = (dialect: DialectId): ClientCodec['error'] => clientCodecOf(dialect)?.error ?? chatCodec.error

/** Returns the error decoder for a provider. A cloud reports its own, in any format of the model. */
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
