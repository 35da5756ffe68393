import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { JsonEdit } from '../../lib/json/json-edit.ts'
import { existingPaths } from '../../lib/json/json-path.ts'
import type { RequestBody } from '../wire/body.ts'
import { editBody } from '../wire/edit-body.ts'
import type { BodyChanges } from './compile.ts'

/** So many places of a body are searched for fields to drop: a body of a million items must not keep all other requests waiting. */
const maxPlaces = 100_000

/**
 * A body with the config's parameters: defaults where the caller set none, overrides, then without the dropped fields. An unchanged body is returned
 * as the same object; in a changed one every other byte stays. Throws `invalid_request` for a body without parameters.
 */
export function changeBody(body: RequestBody, { override, fallback, drop }: BodyChanges): RequestBody {
  if (body.kind === 'none') return body
  const { json } = body
  if (body.kind !== 'json' || !isFields(json)) throw noParameters()
  const absent = Object.entries(fallback).filter(([name]) => !Object.hasOwn(json, name) && !Object.hasOwn(override, name))
  const different = Object.entries(override).filter(([name, value]) => !Object.hasOwn(json, name) || !isDeepStrictEqual(json[name], value))
  const set = editBody(
    body,
    [...absent, ...different].map(([name, value]): JsonEdit => ({ path: [name], value })),
  )
  const dropped = existingPaths(set.json, drop, maxPlaces)
  if (dropped === null) throw tooManyPlaces()
  return editBody(
    set,
    dropped.map((path): JsonEdit => ({ path, value: undefined })),
  )
}

const tooManyPlaces = () =>
  new ApiError('invalid_request', `The config of this request drops parameters at more than ${maxPlaces} places of the body.`, {
    param: 'drop_params',
  })

const noParameters = () =>
  new ApiError('invalid_request', 'The config of this request sets or drops parameters, which only a body that is a JSON object has.', {
    param: 'body',
  })
