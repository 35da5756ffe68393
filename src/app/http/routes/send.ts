import { buffer } from 'node:stream/consumers'
import { isKeyHeader, headersWithout } from '../../../gateway/ports/headers.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { DataPlaneCall, ForwardCall, RawAnswer, SendCall } from '../../route.ts'
import type { Context } from '../context.ts'
import type { Frame, FrameServices } from '../frame.ts'
import type { OwnerOf } from '../ownership.ts'

export interface Sender {
  readonly frame: Frame
  readonly ownerOf: OwnerOf
  readonly running: FrameServices
  readonly prefixes: readonly string[]
}

/** Returns the function by which a handler calls the data plane as its own caller: with the credential of the request, and without its other parts. */
export function sender(
  { req }: Context,
  { frame, ownerOf, running: { gateway }, prefixes }: Sender,
): { readonly send: SendCall; readonly forward: ForwardCall } {
  const call = async ({ method, path, headers, body }: DataPlaneCall, signal?: AbortSignal): Promise<RawAnswer> => {
    if (gateway === null) throw new ApiError('AB01', 'This process does not serve the data plane: ROLES has no gateway.')
    if (ownerOf({ url: `/v1${path}`, method }) === 'control')
      throw new ApiError('AB01', `/v1${path} is a path of the control plane: no provider is ever sent it.`, { param: 'path' })
    return gateway.perform({
      method,
      url: `/v1${path}`,
      headers: [...credentialsOf(req.rawHeaders, prefixes), ...headers],
      ...(body === undefined ? {} : { body }),
      clientAddress: frame.clientAddress(req),
      ...(signal === undefined ? {} : { signal }),
    })
  }
  return {
    forward: call,
    async send(asked) {
      const { status, headers, body } = await call(asked)
      return { status, headers, body: await buffer(body) }
    },
  }
}

const credentialsOf = (rawHeaders: readonly string[], prefixes: readonly string[]): readonly string[] =>
  headersWithout(rawHeaders, (name) => !isKeyHeader(name) && !prefixes.some((prefix) => name === `${prefix}api-key`))
