import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { CallHead } from '../call.ts'
import type { GatewaySettings } from '../settings.ts'
import { isJsonType, modelOf, type RequestBody } from '../wire/body.ts'
import { validateBody, validateGoogleBody } from '../bounds/validate.ts'
import { isGooglePath } from '../operations/fronts.ts'
import { isMethodOfGoogle } from '../operations/operation-name.ts'

/** Throws `invalid_request` or `unsupported_media_type` for a body that its operation cannot have. */
export function checkBody(
  { operation, headers, path }: Pick<CallHead, 'operation' | 'headers' | 'path'>,
  body: RequestBody,
  settings: Pick<GatewaySettings, 'dedicatedValidation'>,
): void {
  const { name, spec } = operation
  const { contentType } = headers
  checkModel(body)
  if (name === 'proxy' && isGooglePath(path)) checkGoogleBody(path, body)
  if (name === 'proxy') return
  if (spec?.json !== true) {
    // A form is checked as it comes; some providers take its fields as JSON.
    if (isFields(body.json)) validateBody(name, body.json, settings.dedicatedValidation)
    return
  }
  if (body.kind === 'none') throw new ApiError('invalid_request', `${spec.path} needs a JSON body.`, { param: 'body' })
  if (!isJsonType(contentType)) {
    const got = contentType === '' ? 'a body without content-type' : contentType
    throw new ApiError('unsupported_media_type', `${spec.path} takes application/json, not ${got}.`, { param: 'content-type' })
  }
  if (body.kind !== 'json') return
  if (!isFields(body.json)) throw noObject()
  validateBody(name, body.json, settings.dedicatedValidation)
}

/** The longest names are those of AWS's resources. Names of models are compared with many patterns. */
const longestModel = 2048

function checkModel({ json }: RequestBody): void {
  if ((modelOf(json)?.length ?? 0) <= longestModel) return
  throw new ApiError('invalid_request', `model: must have at most ${longestModel} characters.`, { param: 'model' })
}

/** Throws for a body of Google's clients; a body for a path that runs no model may be anything. */
function checkGoogleBody(path: string, { kind, json }: RequestBody): void {
  if (isFields(json)) validateGoogleBody(json)
  else if ((kind === 'json' || kind === 'none') && isMethodOfGoogle(path)) throw noObject()
}

const noObject = () => new ApiError('invalid_request', 'The body must be a JSON object.', { param: 'body' })
