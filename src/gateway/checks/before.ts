import { ApiError } from '../../lib/errors.ts'
import { repeatedKey } from '../../lib/json/repeated-key.ts'
import type { RequestBody } from '../wire/body.ts'
import { known, type Progress } from '../progress.ts'
import { denial } from './denial.ts'
import { requestFacts } from './facts.ts'
import { readsBody } from './plan.ts'
import { editBody, type InspectedBody, inspectBody, refusesEdit } from './request-body.ts'
import { type RunDeps, runGuardrails } from './run.ts'

/**
 * Runs the guardrails before the call. What they change is in the body and the headers afterwards. Resolves to whether they changed the
 * body; throws `hooks_failed` when one of them denies the request.
 */
export async function checkBefore(progress: Progress, deps: RunDeps): Promise<boolean> {
  const { guardrails } = progress
  if (guardrails === null || guardrails.input.length === 0) return false
  if (readsBody(guardrails)) refuseRepeatedKeys(known(progress.body))
  const { contentType } = known(progress.headers)
  const look = (body: RequestBody) => inspectBody(body, progress)
  const outcome = await runGuardrails(guardrails.input, {
    phase: 'input',
    body: look(known(progress.body)),
    apply: (held: InspectedBody, edits) => look(editBody(held, edits, contentType)),
    refuses: refusesEdit,
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
