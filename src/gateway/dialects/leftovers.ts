import type { Fields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import type { Loss } from './neutral/loss.ts'
import type { NeutralRequest } from './neutral/request.ts'

/** Returns the fields of a body that its decoder does not read, for the request's bag. Null is not a value. */
export function unread(body: Fields, known: ReadonlySet<string>): Fields {
  let rest: Record<string, unknown> | null = null
  for (const name in body) if (!known.has(name) && body[name] !== null && body[name] !== undefined) (rest ??= {})[name] = body[name]
  return rest ?? nothing
}

const nothing: Fields = {}

/** Notes the fields of other dialects that a request brought: they steer their own vendor. Returns those of the dialect itself. */
export function spendBag({ bag }: NeutralRequest, own: DialectId, loss: Loss): Fields {
  for (const [dialect, fields] of Object.entries(bag)) if (dialect !== own) for (const name of Object.keys(fields)) loss.dropAt(name)
  return bag[own] ?? nothing
}
