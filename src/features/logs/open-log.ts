import type { Vault } from '../../app/secrets/vault.ts'
import { attemptRows } from '../../app/journal/columns.ts'
import { decodeConfidential, type Confidential } from '../../gateway/journal/confidential.ts'
import { SealError } from '../../gateway/journal/log-seal.ts'
import { ApiError } from '../../lib/errors.ts'
import type { LogDetail, LoggedHooks } from './log-fields.ts'

/** Returns the log with its sealed part opened. A log that was not sealed is returned as it is. */
export function openLog(row: LogDetail, vault: Vault): LogDetail {
  if (row.sealed === null) return row
  const { path, upstreamUrl, requestHeaders, responseHeaders, hooks, attempts, request, response } = unseal(row, row.sealed, vault)
  return {
    ...row,
    path,
    upstream_url: upstreamUrl,
    request_headers: requestHeaders,
    response_headers: responseHeaders,
    hook_results: hooks && toLogged(hooks),
    attempts: attempts && attemptRows(attempts),
    request_body: request,
    response_body: response,
  }
}

const toLogged = ({ before_request_hooks: before, after_request_hooks: after }: NonNullable<Confidential['hooks']>): LoggedHooks => ({
  before_request_hooks: before.map((result) => ({ ...result })),
  after_request_hooks: after.map((result) => ({ ...result })),
})

function unseal(
  { id, organisation_id: organisationId, created_at: createdAt }: LogDetail,
  sealed: Uint8Array,
  { logs }: Vault,
): Confidential {
  try {
    return decodeConfidential(logs.open({ id, organisationId, createdAt }, sealed))
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    const message = `The bodies and headers of this log are sealed, and cannot be opened: ${error.message}. Its figures are in the list of logs.`
    throw new ApiError('internal', message, { cause: error })
  }
}
