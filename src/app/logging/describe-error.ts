import { scrubSecrets } from '../../lib/text/secret-shapes.ts'

export interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: ErrorDescription
}

const maxMessage = 500
const maxCauses = 4

/**
 * An error as it may be logged: type, code, message and frames, with its causes. The text of a failed SQL statement, which holds
 * its parameters, and everything that looks like a credential are left out.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: scrubSecrets(String(error).slice(0, maxMessage)) }
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return {
    type: error.name,
    message: scrubSecrets(withoutStatement(error.message).slice(0, maxMessage)),
    ...code,
    ...(frames === undefined || frames.length === 0 ? {} : { stack: frames.join('\n') }),
    ...(error.cause === undefined || error.cause === null || depth >= maxCauses ? {} : { cause: describeError(error.cause, depth + 1) }),
  }
}

/** The ORM puts the statement with its values before the database's own words: `insert into … - duplicate key value …`. */
function withoutStatement(message: string): string {
  const match = /^(?:select|insert|update|delete|with|begin|commit|set|merge)\b[\s\S]* - (?<words>[^\n]*)/i.exec(message)
  return match?.groups?.['words'] ?? message
}
