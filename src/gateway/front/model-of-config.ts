import { ApiError } from '../../lib/errors.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import type { Call } from '../call.ts'
import type { Parameters } from '../config/compile.ts'
import { modelReference } from '../targets/addressing.ts'
import { isGooglePath } from '../operations/fronts.ts'
import { renameModelInBody, takeModelOfPath } from '../targets/google-paths.ts'
import { googlePattern } from '../operations/google-versions.ts'

const ofGoogle = googlePattern(String.raw`/models/([^?]+)(:[^?:/]*(?:\?.*)?)$`)

/**
 * Puts the model that a config sets where clients of Google name theirs: in the path, and where the body repeats it. Calls whose body names the model
 * stay as they are: there it is a parameter like any other. A default has no effect here, since such a path always names a model.
 */
export function withModelOfConfig(call: Call): Call {
  const { config, path } = call
  if (config === null || config.changes === null || !isGooglePath(path)) return call
  const { changes } = config
  const { override, fallback } = changes
  if (override['model'] === undefined && fallback['model'] === undefined) return call
  const without = { ...call, config: { ...config, changes: { ...changes, override: unnamed(override), fallback: unnamed(fallback) } } }
  return renamed(call, without, override['model'])
}

/** Returns the call with another model in its path; a path without a model stays as it was, with its parameters. */
function renamed(call: Call, without: Call, given: unknown): Call {
  const [, named, rest = ''] = ofGoogle.exec(call.upstreamPath) ?? []
  if (named === undefined) return call
  if (given === undefined) return without
  const name = readModel(given)
  const { model, path } = takeModelOfPath(`/${call.upstreamPath.split('/', 2)[1]}/models/${inPath(name)}${rest}`)
  const plain = modelReference(model)?.model ?? name
  const body = call.body === null ? null : renameModelInBody(call.body, call.model ?? decodeSegment(named), plain)
  return { ...without, upstreamPath: path, model, body }
}

function unnamed(parameters: Parameters): Parameters {
  const { model: _model, ...rest } = parameters
  return rest
}

function readModel(value: unknown): string {
  const isModel = typeof value === 'string' && value !== '' && value.isWellFormed() && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(value)
  if (isModel) return value
  throw new ApiError(
    'invalid_request',
    'override_params.model of the config must be the name of a model: the path of this request has it.',
    {
      param: 'override_params.model',
    },
  )
}

/** Slashes, colons and the @ of a slug mean the same in a path. */
const inPath = (model: string): string => encodeURIComponent(model).replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%40', '@')
