import { ApiError } from '../../lib/errors.ts'

/**
 * Returns the error of an answer that Gatehouse does not read to its end. Its cause marks that the provider may have done its work, and charges for
 * it.
 */
export const cutShort = (message: string): ApiError =>
  new ApiError('upstream_bad_response', message, { cause: new RangeError('the answer was not read to its end') })

/** Returns the error of an answer with more bytes than are held. */
export const tooLarge = (maxHeldBytes: number): ApiError => cutShort(`The provider's answer is larger than ${maxHeldBytes} bytes.`)
