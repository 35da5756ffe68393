import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { Middleware as KoaMiddleware } from 'koa'
import { getRawBody } from 'raw-body'
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
  /** The most bytes that the route takes. */
  readonly mostBytes?: number | undefined
}

/** Reads the body of a control-plane request, which takes turns with those of other owners when it is long; `{}` when there is none. Throws 400, 408, 413, 415 or 503. */
export function bodyReader(maxBytes: number): (ctx: Context, owner: string | null, formats?: BodyFormats) => Promise<unknown> {
  const readForm = formReader()
  return async (ctx, owner, formats = {}) => {
    const bound = boundOf(maxBytes, formats)
    if (!hasBody(ctx)) return {}
    if (formats.form === true && ctx.is('urlencoded') !== false) return inTime(() => readForm(ctx, bound.bytes), bound)
    const { protobuf } = formats
    const isMessage = protobuf !== undefined && isProtobuf(ctx)
    if (!isMessage && ctx.is('json', '+json') === false) throw unsupported(ctx.get('content-type'), typeOf(formats))
    const bytes = await inTime(() => readBytes(ctx.req, bound.bytes), bound)
    await longTurns.before(owner, bytes.length)
    if (isMessage) return protobuf.read(bytes)
    const value = parseJson(bytes)
    refuseKeys(value, poisonous)
    return value
  }
}

/** The most bytes of a body, and the thing that sets it. */
interface Bound {
  readonly bytes: number
  readonly of: 'route' | 'installation'
}

const boundOf = (maxBytes: number, { mostBytes = Infinity }: BodyFormats): Bound =>
  mostBytes < maxBytes ? { bytes: mostBytes, of: 'route' } : { bytes: maxBytes, of: 'installation' }

const typeOf = ({ form, named = 'application/json' }: BodyFormats): string => (form === true ? 'application/x-www-form-urlencoded' : named)

/** Returns true if the request declares its body as a message of protobuf. */
export const isProtobuf = (ctx: Pick<Context, 'is'>): boolean => ctx.is(protobufType) === protobufType

const hasBody = ({ req }: Context) => req.headers['transfer-encoding'] !== undefined || !/^0*$/.test(req.headers['content-length'] ?? '')

function unsupported(given: string, wanted: string): ApiError {
  const told = given === '' ? 'without a content-type' : given.slice(0, 100)
  return new ApiError('unsupported_media_type', `The body must be ${wanted}, not ${told}.`, { param: 'content-type' })
}

/** How long one body may take: control-plane bodies are small. */
const readTimeoutMs = 20_000

/** Runs the reading of a body. Rejects when it fails or takes too long. */
async function inTime<Body>(read: () => Promise<Body>, bound: Bound): Promise<Body> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ApiError('request_timeout', 'The body did not arrive in time.')), readTimeoutMs)
  try {
    return await Promise.race([read(), late])
  } catch (error) {
    throw toBodyError(error, bound)
  } finally {
    clearTimeout(timer)
  }
}

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
}

/** The bytes of a body, inflated, never more than `maxBytes`. JSON is parsed by code of ours, which refuses invalid UTF-8 and deep nesting. */
async function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = req.headers
  if (encoding === 'identity') return getRawBody(req, { limit: maxBytes, length: length ?? null })
  const decoder = decoders[encoding]?.()
  if (decoder === undefined) throw unknownEncoding()
  return getRawBody(req.pipe(decoder), { limit: maxBytes })
}

/** A form of a standard has a few fields. */
const mostFields = 1000

/** Reads forms: each field is one text, the last of a name. koa-body is loaded at the first form, since most processes take none. */
function formReader(): (ctx: Context, maxBytes: number) => Promise<unknown> {
  const loaded = new Map<number, Promise<KoaMiddleware>>()
  return async (ctx, maxBytes) => {
    const reader = loaded.get(maxBytes) ?? loadForms(maxBytes)
    loaded.set(maxBytes, reader)
    await (
      await reader
    )(ctx, async () => {})
    return Reflect.get(ctx.request, 'body')
  }
}

async function loadForms(maxBytes: number): Promise<KoaMiddleware> {
  const { koaBody, HttpMethodEnum } = await import('koa-body')
  return koaBody({
    json: false,
    text: false,
    multipart: false,
    urlencoded: true,
    formLimit: maxBytes,
    queryString: {
      depth: 0,
      parseArrays: false,
      allowDots: false,
      duplicates: 'last',
      parameterLimit: mostFields,
      throwOnLimitExceeded: true,
    },
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH],
  })
}

const unknownEncoding = (cause?: unknown): ApiError =>
  new ApiError('unsupported_media_type', 'The content-encoding of the body is not supported: use gzip, deflate, br or none.', {
    param: 'content-encoding',
    cause,
  })

function toBodyError(error: unknown, { bytes, of }: Bound): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error
  const type: unknown = Reflect.get(error, 'type')
  if (type === 'entity.too.large') {
    return new ApiError('payload_too_large', `The body is larger than ${bytes} bytes, the most that this ${of} takes.`, {
      param: 'body',
      cause: error,
    })
  }
  if (type === 'request.aborted')
    return new ApiError('client_closed', 'The client left before it had sent the whole body.', { cause: error })
  if (Reflect.get(error, 'status') === 415) return unknownEncoding(error)
  if (error instanceof RangeError)
    return new ApiError('invalid_request', `A form has at most ${mostFields} fields.`, { param: 'body', cause: error })
  return new ApiError(
    'invalid_request',
    'The body cannot be read: it is shorter or longer than announced, or not in its content-encoding.',
    { param: 'body', cause: error },
  )
}
