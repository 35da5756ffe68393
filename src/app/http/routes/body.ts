import type { Middleware as KoaMiddleware } from 'koa'
import { ApiError } from '../../../lib/errors.ts'
import { parseJson, refuseKeys } from '../../../lib/json/json.ts'
import { longTurns } from '../../../lib/shares/long-turns.ts'
import type { Context } from '../context.ts'

/** Keys that reach a prototype when a careless copy meets them; `__proto__` is refused by parseJson. */
const poisonous: ReadonlySet<string> = new Set(['constructor'])

export const protobufType = 'application/x-protobuf'

/** The formats that a body may have beside JSON. */
export interface BodyFormats {
  readonly form?: true | undefined
  readonly protobuf?: { read(bytes: Uint8Array): unknown } | undefined
  /** The media types of JSON by the names of a standard, for the error of another one. */
  readonly named?: string | undefined
}

/** Reads the body of a control-plane request, which takes turns with those of other owners when it is long; `{}` when there is none. Throws 400, 408, 413, 415 or 503. */
export function bodyReader(maxBytes: number): (ctx: Context, owner: string | null, formats?: BodyFormats) => Promise<unknown> {
  const readRaw = rawReader(maxBytes)
  return async (ctx, owner, { form = false, protobuf, named = 'application/json' } = {}) => {
    if (!hasBody(ctx)) return {}
    const read = async () => {
      const bytes = await readRaw(ctx)
      await longTurns.before(owner, bytes.length)
      return bytes
    }
    if (protobuf !== undefined && isProtobuf(ctx)) return protobuf.read(await read())
    if (form && ctx.is('urlencoded') !== false) return Object.fromEntries(new URLSearchParams(Buffer.from(await read()).toString()))
    if (ctx.is('json', '+json') === false) throw unsupported(ctx.get('content-type'), form ? 'application/x-www-form-urlencoded' : named)
    const value = parseJson(await read())
    refuseKeys(value, poisonous)
    return value
  }
}

/** Returns true if the request declares its body as a message of protobuf. */
export const isProtobuf = (ctx: Pick<Context, 'is'>): boolean => ctx.is(protobufType) === protobufType

const hasBody = ({ req }: Context) => req.headers['transfer-encoding'] !== undefined || !/^0*$/.test(req.headers['content-length'] ?? '')

function unsupported(given: string, wanted: string): ApiError {
  const told = given === '' ? 'without a content-type' : given.slice(0, 100)
  return new ApiError('unsupported_media_type', `The body must be ${wanted}, not ${told}.`, { param: 'content-type' })
}

/** How long one body may take: control-plane bodies are small. */
const readTimeoutMs = 20_000

/**
 * The bytes of the body, inflated, never more than `maxBytes`. koa-body reads them as text in which each character is one byte,
 * since its own decoding and parsing would let invalid UTF-8 and deep nesting pass. It is loaded at its first use.
 */
function rawReader(maxBytes: number): (ctx: Context) => Promise<Uint8Array> {
  let loaded: Promise<KoaMiddleware> | undefined
  const load = async () => {
    const { koaBody, HttpMethodEnum } = await import('koa-body')
    return koaBody({
      json: false,
      urlencoded: false,
      multipart: false,
      text: true,
      textTypes: ['json', '+json', 'urlencoded', protobufType],
      textLimit: maxBytes,
      encoding: 'binary',
      parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
    })
  }
  return async (ctx) => {
    loaded ??= load()
    const read = await loaded
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new ApiError('request_timeout', 'The body did not arrive in time.')), readTimeoutMs)
    try {
      await Promise.race([read(ctx, async () => {}), late])
    } catch (error) {
      throw toBodyError(error, maxBytes)
    } finally {
      clearTimeout(timer)
    }
    const text: unknown = Reflect.get(ctx.request, 'body')
    return Buffer.from(typeof text === 'string' ? text : '', 'latin1')
  }
}

function toBodyError(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error
  const type: unknown = Reflect.get(error, 'type')
  if (type === 'entity.too.large') {
    return new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes, the most that this installation takes.`, {
      param: 'body',
      cause: error,
    })
  }
  if (type === 'request.aborted')
    return new ApiError('client_closed', 'The client left before it had sent the whole body.', { cause: error })
  if (Reflect.get(error, 'status') === 415) {
    return new ApiError('unsupported_media_type', 'The content-encoding of the body is not supported: use gzip, deflate, br or none.', {
      param: 'content-encoding',
      cause: error,
    })
  }
  return new ApiError(
    'invalid_request',
    'The body cannot be read: it is shorter or longer than announced, or not in its content-encoding.',
    { param: 'body', cause: error },
  )
}
