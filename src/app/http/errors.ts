import { errorBody, retryHeaders, toApiError, ApiError, type ErrorCode } from '../../lib/errors.ts'
import { databaseFault } from '../database/database-fault.ts'
import { answeredAsPage } from './error-page.ts'
import type { Frame } from './frame.ts'
import type { Context, Middleware } from './context.ts'

/** The one place where a thrown error becomes an answer. Callers get the message of an ApiError; of all other errors the id only. */
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

/** The codes of the control plane for errors that both planes report. */
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
  if (!answeredAsPage(ctx, error)) ctx.body = errorBody(error, ctx.state.requestId)
}

/** Any thrown value, as the caller may see it: a database that is away is no fault of the caller's key, and no bug. */
export const toCallerError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : (databaseFault(thrown) ?? toApiError(thrown))
