import type { Deps } from '../../app/deps.ts'
import { decodeLogObject } from '../../app/log-store/log-object.ts'
import { LogStoreError } from '../../app/log-store/log-store.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { attemptRows, translationRow } from '../../app/journal/columns.ts'
import { decodeConfidential, type Confidential, SealError } from '../../gateway/ports/journal.ts'
import { ApiError } from '../../lib/errors.ts'
import type { LogDetail, LoggedHooks } from './log-fields.ts'

/** Returns the log with its bodies fetched from the log store and its sealed part opened, where there is such. */
export async function openLog(given: LogDetail, { vault, logStore }: Pick<Deps, 'vault' | 'logStore'>): Promise<LogDetail> {
  const row = given.object_key === null ? given : await fetchBodies(given, given.object_key, logStore)
  if (row.sealed === null) return row
  const opened = unseal(row, row.sealed, vault)
  const { path, upstreamUrl, requestHeaders, responseHeaders, hooks, attempts, translation, request, response } = opened
  return {
    ...row,
    path,
    upstream_url: upstreamUrl,
    request_headers: requestHeaders,
    response_headers: responseHeaders,
    hook_results: hooks && toLogged(hooks),
    attempts: attempts && attemptRows(attempts),
    translation: translation && translationRow(translation),
    request_body: request,
    response_body: response,
  }
}

/** A log whose object is gone, as life-cycle rules of a bucket remove it, has no bodies. */
async function fetchBodies(row: LogDetail, key: string, store: Deps['logStore']): Promise<LogDetail> {
  if (store === null) throw unavailable('LOG_STORE does not name it any longer')
  try {
    const object = await store.get(key)
    if (object === null) return row
    const { hook_results: hooks, ...bodies } = decodeLogObject({ id: row.id, organisationId: row.organisation_id }, object)
    return { ...row, ...bodies, hook_results: hooks }
  } catch (error) {
    if (error instanceof LogStoreError) throw unavailable(error.message, error)
    throw error
  }
}

const unavailable = (why: string, cause?: Error): ApiError =>
  new ApiError(
    'dependency_unavailable',
    `The bodies and headers of this log are in the log store, which cannot be read: ${why}. Its figures are in the list of logs.`,
    { retryAfter: 10, ...(cause && { cause }) },
  )

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
