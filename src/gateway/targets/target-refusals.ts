import { ApiError } from '../../lib/errors.ts'
import type { ModelReference, Reference } from './addressing.ts'
import { isJsonType } from '../wire/body.ts'
import { isForm } from '../wire/form.ts'
import type { CallerHeaders } from '../wire/headers.ts'

/** A request that names no provider. */
export interface UnnamedRequest {
  /** The `model` of a JSON body, as the caller wrote it. */
  readonly model: string | null
  readonly headers: Pick<CallerHeaders, 'contentEncoding' | 'contentType'>
  /** Returns whether the workspace has a stored provider with this slug. */
  readonly isStored: (slug: string) => boolean | Promise<boolean>
}

/** `meant`: the slug of the workspace that was probably meant; null: none is near. */
export const unknownSlug = ({ slug, param }: Reference, meant: string | null = null) =>
  new ApiError(
    'unknown_provider',
    `There is no provider or virtual key ${JSON.stringify(`@${slug.slice(0, 60)}`)} in this workspace. GET /v1/providers lists them.${meant === null ? '' : ` Did you mean "@${meant}"?`}`,
    {
      param,
    },
  )

export const twoProviders = ({ slug, param }: Reference, fromModel: ModelReference) =>
  new ApiError(
    'invalid_request',
    `The header ${param} names the provider @${slug}, and the model names @${fromModel.slug}. Leave one of them out.`,
    { param: 'model' },
  )

/** Returns the error of a request that names no provider: it lists the ways to name one. */
export async function noProvider({ model, isStored, headers: { contentEncoding, contentType } }: UnnamedRequest): Promise<ApiError> {
  const written = model ?? ''
  const [slug = ''] = written.split('/', 1)
  const shown = written.slice(0, 100)
  const param = 'model'
  if (slug !== written && (await isStored(slug)))
    return new ApiError('missing_provider', `No provider was named. A stored one is named with @: did you mean the model "@${shown}"?`, {
      param,
    })
  if (written.startsWith('@'))
    return new ApiError('missing_provider', `The model ${JSON.stringify(shown)} names no provider with a model: write @slug/model.`, {
      param,
    })
  // A body that was decompressed to be read has no encoding any more.
  if (contentEncoding !== '')
    return new ApiError(
      'missing_provider',
      `No provider was named, and a body with content-encoding ${JSON.stringify(contentEncoding.slice(0, 40))} is not read for its model. Send x-service-provider, or the body without content-encoding; JSON may also be compressed with gzip, br, deflate or zstd.`,
      { param: 'content-encoding' },
    )
  if (contentType !== '' && !isJsonType(contentType) && !isForm(contentType))
    return new ApiError(
      'missing_provider',
      `No provider was named, and a body with content-type ${JSON.stringify(contentType.slice(0, 60))} is not read for its model. Send content-type: application/json with JSON, or x-service-provider.`,
      { param: 'content-type' },
    )
  return new ApiError(
    'missing_provider',
    'No provider was named. Send x-service-provider (a name, or @slug of a stored one), x-service-virtual-key, or a model "@slug/model".',
    { param: 'x-service-provider' },
  )
}

export const noCredential = (name: string) =>
  new ApiError(
    'missing_credential',
    `No credential for ${name} was sent. Put the provider's key in Authorization: Bearer (and yours in x-service-api-key), or use a stored provider (@slug).`,
    {
      param: 'authorization',
    },
  )

export const keyless = ({ slug, param }: Reference) =>
  new ApiError('missing_credential', `The provider @${slug} has no key. Store one with its integration.`, { param })

export const needsVirtualKey = () =>
  new ApiError(
    'missing_credential',
    'This endpoint needs a stored credential: send x-service-virtual-key, or its newer form x-service-provider: @slug. DEDICATED_VALIDATION=lenient lets a provider key of your own pass.',
    {
      param: 'x-service-virtual-key',
    },
  )
