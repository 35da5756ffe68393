import { ApiError } from '../../lib/errors.ts'
import { parseJson } from '../../lib/json/json.ts'
import { hasTooManyValues, mostValues } from '../../lib/json/many-values.ts'

/** Returns the value of a client's message. `remember` gets the text beside it. Throws `invalid_request`. */
export function valueOfMessage(data: Buffer, remember?: (value: unknown, text: string) => void): unknown {
  // The letters that count are of ASCII.
  if (data.length > mostValues && hasTooManyValues(data.toString('latin1')))
    throw new ApiError('invalid_request', `A message has ${mostValues} values at most.`, { param: 'body' })
  return parseJson(data, undefined, remember)
}
