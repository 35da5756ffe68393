import { isOn } from '../../config/effect.ts'
import { refusalOf, type TokenRefusal } from '../../gateway/ports/callers.ts'
import { ApiError } from '../../lib/errors.ts'
import { asSystem } from '../database/orm.ts'
import type { Deps } from '../deps.ts'
import { writeAudit } from './write.ts'

/** The request that brought a token. */
export interface RefusedRequest {
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly clientAddress: string
  readonly country?: string | null
  readonly headers: Readonly<Record<string, unknown>>
}

/** Writes refusals of tokens into the trail of the organisation that the token names. Never throws, and no request waits for it. */
export type RecordRefusal = (error: unknown, request: RefusedRequest) => void

/** Strangers can name any organisation: more rows than these in a minute are counted, and the next row states the count. */
const maxRows = 30
const minuteMs = 60_000
const maxOrganisations = 10_000

interface Minute {
  readonly startedAt: number
  rows: number
  /** Refusals that were not written; they are carried over. */
  left: number
}

/** Refusals are recorded while there is a trail and the level explains them. */
export function refusalRecorder(deps: Deps): RecordRefusal {
  const minutes = new Map<string, Minute>()
  return (error, request) => {
    const refusal = refusalOf(error)
    if (refusal === null || !(error instanceof ApiError)) return
    if (!isOn('AUDIT_LOGS_ENABLED', deps.config, deps.level) || !deps.level.atLeast('1.12.0')) return
    const notWritten = takeRow(minutes, refusal.organisationId, deps.clock.now())
    if (notWritten === null) return
    void writeOrLog(deps, { refusal, error, request, notWritten })
  }
}

async function writeOrLog(deps: Deps, refused: RefusedToken): Promise<void> {
  try {
    await write(deps, refused)
  } catch (error) {
    deps.log.warn({ err: error, request_id: refused.request.requestId }, 'the refusal of a token could not be written into the audit trail')
  }
}

/** How many refusals went unwritten before this one; null when this one goes unwritten too. */
function takeRow(minutes: Map<string, Minute>, organisationId: string, now: number): number | null {
  const held = minutes.get(organisationId)
  const minute = held !== undefined && now - held.startedAt < minuteMs ? held : { startedAt: now, rows: 0, left: held?.left ?? 0 }
  if (minutes.size >= maxOrganisations) minutes.clear()
  minutes.set(organisationId, minute)
  if (minute.rows >= maxRows) {
    minute.left += 1
    return null
  }
  minute.rows += 1
  const { left } = minute
  minute.left = 0
  return left
}

interface RefusedToken {
  readonly refusal: TokenRefusal
  readonly error: ApiError
  readonly request: RefusedRequest
  readonly notWritten: number
}

async function write({ orm, vault, clock }: Deps, { refusal, error, request, notWritten }: RefusedToken): Promise<void> {
  const { organisationId, holder } = refusal
  await asSystem(orm, async (em) => {
    const known = await em.execute('SELECT 1 FROM organisations WHERE id = ?', [organisationId])
    if (known.length === 0) return
    await writeAudit(em, vault, {
      actor: { type: 'user', id: null, name: holder, organisationId, userId: null },
      workspaceId: null,
      action: 'authenticate',
      resourceType: 'token',
      resourceId: null,
      method: request.method,
      uri: request.path,
      query: null,
      requestId: request.requestId,
      clientAddress: request.clientAddress,
      country: request.country ?? null,
      headers: request.headers,
      status: error.status,
      body: undefined,
      changes: [],
      error: { code: error.code, message: error.message, ...(notWritten > 0 && { not_written_before: notWritten }) },
      at: clock.now(),
    })
  })
}
