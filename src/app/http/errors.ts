import { errorBody, retryHeaders, toApiError, ApiError, type ErrorCode } from '../../lib/errors.ts'
import type { Frame } from './frame.ts'
import type { Context, Middleware } from './context.ts'

/** The one place where what was thrown becomes an answer. Callers get the message of an ApiError; of all else the id only. */
export const errorEdge =
  ({ log }: Pick<Frame, 'log'>): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      const error = inOwnCodes(ctx, toCallerError(thrown))
      if (error.status >= 500)
        log[error.status === 500 ? 'error' : 'warn']({ err: error, request_id: ctx.state.requestId }, 'request failed')
      answerError(ctx, error)
    }
  }

/** The codes of the control plane for what both planes refuse. */
const controlCodes: Readonly<Partial<Record<ErrorCode, ErrorCode>>> = {
  invalid_request: 'AB01',
  forbidden: 'AB03',
  unauthorized: 'AB05',
  expired_key: 'AB05',
  internal: 'AB04',
  rate_limited: 'AB06',
}

/** The error of a control-plane route, under the control plane's code for it. */
function inOwnCodes(ctx: Context, error: ApiError): ApiError {
  const code = ctx.state.access.route === undefined ? undefined : controlCodes[error.code]
  if (code === undefined) return error
  const { message, param, retryAfter, details, beside, cause } = error
  return new ApiError(code, message, {
    details,
    beside,
    cause,
    ...(param !== null && { param }),
    ...(retryAfter !== null && { retryAfter }),
  })
}

/** Writes an error as the answer. */
export function answerError(ctx: Context, error: ApiError): void {
  ctx.state.access.errorCode = error.code
  ctx.status = error.status
  ctx.set(retryHeaders(error))
  if (error.status === 401 && !ctx.res.hasHeader('www-authenticate')) ctx.set('www-authenticate', 'Bearer realm="gatehouse"')
  if (!ctx.req.complete) ctx.set('connection', 'close')
  ctx.body = errorBody(error, ctx.state.requestId)
}

/** Whatever was thrown, as the caller may see it: a database that is away is no fault of the caller's key, and no bug. */
export function toCallerError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  const [code, message] = databaseFault(thrown)
  if (code === '23505') return new ApiError('AB07', 'This exists already: a value that must be unique is taken.', { cause: thrown })
  if (code === '23503') return new ApiError('AB07', 'Something else depends on this, or what it refers to is gone.', { cause: thrown })
  if (unreachable.test(code) || unreachableWords.test(message)) {
    return new ApiError('dependency_unavailable', 'The database cannot be reached at the moment. Try again shortly.', { cause: thrown })
  }
  return toApiError(thrown)
}

/** SQLSTATE 08 (connection), 53 (resources), 57 (stopped, cancelled), 55P03 (lock); the system's network errors. */
const unreachable = /^(?:08...|53...|57...|55P03|25P0[23]|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/
const unreachableWords =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|Client has encountered a connection error|Query read timeout|not currently accepting connections/im

/** The first code in the chain of causes, and all messages. */
function databaseFault(thrown: unknown): readonly [code: string, messages: string] {
  let code = ''
  const messages: string[] = []
  let current = thrown
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const found: unknown = Reflect.get(current, 'code')
    if (code === '' && typeof found === 'string') code = found
    if (current instanceof AggregateError) current = current.errors[0]
    else if (current instanceof Error) {
      messages.push(current.message.slice(-300))
      current = current.cause
    } else break
  }
  return [code, messages.join('\n')]
}
