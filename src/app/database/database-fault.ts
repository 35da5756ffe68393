import { ApiError } from '../../lib/errors.ts'

/** Returns the fault of PostgreSQL, its driver or the network, in words for the caller; null: it is another error. The first row that fits counts. */
export function databaseFault(thrown: unknown): ApiError | null {
  const [code, message] = said(thrown)
  const fault = faults.find(({ codes, words }) => codes.test(code) || words?.test(message) === true)
  return fault === undefined ? null : fault.error(thrown)
}

interface Fault {
  /** The codes of SQLSTATE, or of the system. */
  readonly codes: RegExp
  readonly words?: RegExp
  error(cause: unknown): ApiError
}

const faults: readonly Fault[] = [
  {
    codes: /^23505$/,
    error: (cause) => new ApiError('AB07', 'This exists already: a value that must be unique is taken.', { cause }),
  },
  {
    codes: /^23503$/,
    error: (cause) => new ApiError('AB07', 'Another resource depends on this, or a resource that it refers to is gone.', { cause }),
  },
  {
    // 22021 and 22P05: characters that no text of the database holds. 22P02: half of a surrogate pair in JSON.
    codes: /^(?:22021|22P05|22P02)$/,
    error: (cause) =>
      new ApiError(
        'invalid_request',
        'A text of the request has a NUL character (U+0000) or broken Unicode, which the database cannot hold. Take it out.',
        { cause },
      ),
  },
  {
    // lock_not_available, deadlock_detected
    codes: /^(?:55P03|40P01)$/,
    error: (cause) =>
      new ApiError(
        'busy',
        'Other work on the same data, such as a migration, takes longer than this request may wait. Try again shortly.',
        {
          cause,
        },
      ),
  },
  {
    // query_canceled: by `statement_timeout`
    codes: /^57014$/,
    error: (cause) =>
      new ApiError('busy', 'The database took longer over this request than it may. Try again shortly, or ask for less at once.', {
        cause,
      }),
  },
  {
    // 25006: a standby answered. 28 and 3D000: a login that was valid when the process started.
    codes: /^(?:25006|28...|3D000)$/,
    error: (cause) =>
      new ApiError('dependency_unavailable', 'The database cannot be used at the moment, as during a failover. Try again shortly.', {
        cause,
      }),
  },
  {
    // 08 (connection), 53 (resources), 57 (stopped), a transaction that was left; the system's network errors
    codes: /^(?:08...|53...|57...|25P0[23]|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/,
    words:
      /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|is not queryable|Query read timeout|not currently accepting connections/im,
    error: (cause) => new ApiError('dependency_unavailable', 'The database cannot be reached at the moment. Try again shortly.', { cause }),
  },
]

/** Checks the values of a statement before it is sent: they are written into its text, which PostgreSQL reads only up to the first NUL. */
export function demandStorable(statement: string, values: readonly unknown[]): string {
  if (values.some(hasNul)) throw Object.assign(new Error('a value holds a NUL character'), { code: '22021' })
  return statement
}

const hasNul = (value: unknown): boolean => (typeof value === 'string' ? value.includes('\0') : Array.isArray(value) && value.some(hasNul))

/** Returns the first code in the chain of causes, and all messages. */
function said(thrown: unknown): readonly [code: string, messages: string] {
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
