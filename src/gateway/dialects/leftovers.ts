import { ApiError } from '../../lib/errors.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { ProviderCodec } from './codec.ts'
import type { DialectId } from './dialect.ts'
import type { Loss } from './neutral/loss.ts'
import type { Part } from './neutral/parts.ts'
import type { NeutralRequest } from './neutral/request.ts'
import { previousNotFound } from './openai-responses/response-id.ts'

/** Fields without which a request would mean something else, by the one dialect that has them. */
const meaningful: Readonly<Partial<Record<DialectId, ReadonlySet<string>>>> = {
  'openai-chat': new Set(['audio', 'web_search_options']),
  'openai-responses': new Set(['previous_response_id', 'conversation', 'prompt', 'background']),
  completions: new Set(['suffix', 'best_of', 'logprobs']),
  anthropic: new Set(['container', 'mcp_servers']),
  google: new Set([
    'cachedContent',
    'generationConfig.speechConfig',
    'generationConfig.imageConfig',
    'generationConfig.responseFormat',
    'continuationToken',
    'generationConfig.audioTranscriptionConfig',
    'generationConfig.translationConfig',
    'generationOutputConfig',
  ]),
}

const nothing: Fields = {}

/** Returns the fields of a body that its decoder does not read, for the request's bag, named from the place of the body on. Null is not a value. */
export function unread(body: Fields, known: ReadonlySet<string>, place = ''): Fields {
  let rest: Record<string, unknown> | null = null
  for (const name in body) {
    const value = body[name]
    if (!known.has(name) && value !== null && value !== undefined) (rest ??= {})[place + name] = value
  }
  return rest ?? nothing
}

/** Drops the fields that other dialects brought, or refuses those that have a meaning of their own. Returns the fields of the dialect itself. */
export function spendBag({ bag, unplaced }: NeutralRequest, own: DialectId, loss: Loss): Fields {
  for (const place of unplaced) loss.dropAt(place)
  const all: Readonly<Record<string, Fields>> = bag
  for (const dialect in all) {
    const fields = all[dialect] ?? nothing
    if (dialect === own || fields === nothing) continue
    const meant = isDialect(dialect) ? meaningful[dialect] : undefined
    demandKnownResponse(dialect, fields)
    for (const [name, value] of Object.entries(fields).filter(asks))
      if (meant?.has(name) !== true) loss.dropAt(name)
      else if (value !== false) loss.refuseAt(name, 'has no counterpart there')
  }
  return bag[own] ?? nothing
}

/** Returns true for a field with a value; an empty list asks for nothing. */
const asks = ([, value]: readonly [string, unknown]): boolean => !Array.isArray(value) || value.length > 0

/**
 * Throws `invalid_request` for content of a user, or of instructions, that only the vendor of the caller's dialect understands. Such content of a
 * model or a tool is left out by its encoder.
 */
export function refuseForeignContent({ system, turns }: NeutralRequest, { takesContentOf }: ProviderCodec, loss: Loss): void {
  const refuse = (parts: readonly Part[]) => {
    for (const part of parts)
      if (part.kind === 'opaque' && part.dialect !== takesContentOf)
        loss.refuseAt(part.at, `is ${part.type.slice(0, 60)}, which has no counterpart there`)
  }
  refuse(system)
  for (const { role, parts } of turns) if (role === 'user' || role === 'system') refuse(parts)
}

const isDialect = (name: string): name is DialectId => Object.hasOwn(meaningful, name)

/** The same for a part: its fields for other dialects only steer. */
export function spendPartBag({ bag, at }: Pick<Part, 'bag' | 'at'>, own: DialectId, loss: Loss): Fields {
  if (bag === null) return nothing
  for (const [dialect, fields] of Object.entries(bag))
    if (dialect !== own) for (const name of Object.keys(fields)) loss.dropAt(`${at}.${name}`)
  return bag[own] ?? nothing
}

/** A response that Gatehouse keeps has been replaced by its items long before: any other id is unknown to this provider. */
function demandKnownResponse(dialect: string, { previous_response_id: id }: Fields): void {
  if (dialect === 'openai-responses' && typeof id === 'string')
    throw new ApiError('invalid_request', previousNotFound(id), { param: 'previous_response_id' })
}
