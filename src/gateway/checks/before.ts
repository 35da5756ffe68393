import { ApiError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json-edit.ts'
import { repeatedKey } from '../../lib/repeated-key.ts'
import type { RequestBody } from '../body.ts'
import { known, type Progress } from '../progress.ts'
import type { BodyEdit, TextPart } from './check.ts'
import { denial } from './denial.ts'
import { requestFacts } from './facts.ts'
import { readsBody } from './plan.ts'
import { requestTexts } from './request-texts.ts'
import { lastText } from './inspection.ts'
import { type Inspected, type RunDeps, runGuardrails } from './run.ts'
import { isVast, vast } from './walk.ts'

/** A request body as checks see it, and as it can be sent. */
interface InspectedBody extends Inspected {
  readonly body: RequestBody
}

/**
 * Runs the guardrails before the call. What they change is in the body and the headers afterwards. Resolves to whether they changed the
 * body; throws `hooks_failed` when one of them denies the request.
 */
export async function checkBefore(progress: Progress, deps: RunDeps): Promise<boolean> {
  const { guardrails } = progress
  if (guardrails === null || guardrails.input.length === 0) return false
  if (readsBody(guardrails)) refuseRepeatedKeys(known(progress.body))
  const look = (body: RequestBody) => inspected(body, progress)
  const outcome = await runGuardrails(guardrails.input, {
    phase: 'input',
    body: look(known(progress.body)),
    apply: (held: InspectedBody, edits) => look(edited(held.body, edits)),
    request: requestFacts(progress),
    status: null,
    deps,
  })
  progress.hooks = { ...progress.hooks, before_request_hooks: outcome.results }
  progress.body = outcome.body.body
  progress.checkedHeaders = outcome.headers
  if (outcome.deniedBy !== null) throw denial(outcome.deniedBy, progress.hooks)
  return outcome.changed
}

/** A provider may read another of two values than the checks do. */
function refuseRepeatedKeys({ kind, bytes, json }: RequestBody): void {
  const key = kind === 'json' && bytes !== null ? repeatedKey(bytes.toString('utf8'), json) : null
  if (key === null) return
  const quoted = JSON.stringify(key.slice(0, 100))
  throw new ApiError('invalid_request', `An object of the body has the key ${quoted} twice, and guardrails could read only one.`, {
    param: key.slice(0, 100),
  })
}

function inspected(body: RequestBody, progress: Progress): InspectedBody {
  const read = { body, json: body.json, facts: requestFacts(progress, body) }
  return isVast(body.json) ? { ...read, parts: [], unread: vast } : { ...read, parts: partsOf(body, progress.operation.name) }
}

/** A body that is no JSON and is held is one text; one that is passed on as it comes says nothing that can be read. */
function partsOf(body: RequestBody, operation: string): readonly TextPart[] {
  if (body.kind === 'json') return requestTexts(body.json, operation)
  return body.bytes === null ? [] : [{ path: [], role: 'user', text: body.bytes.toString('utf8') }]
}

function edited(body: RequestBody, edits: readonly BodyEdit[]): RequestBody {
  if (body.bytes === null) return body
  const text = body.kind === 'json' ? editJson(body.bytes.toString('utf8'), edits) : lastText(edits)
  const bytes = Buffer.from(text)
  const json: unknown = body.kind === 'json' ? JSON.parse(text) : undefined
  return { ...body, bytes, json, length: bytes.length }
}
