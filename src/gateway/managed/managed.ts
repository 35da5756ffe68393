import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import type { Call, CallHead } from '../call.ts'
import { namesNoTarget } from '../targets/addressing.ts'
import { isForm } from '../wire/form.ts'
import { type BatchMeans, createBatch } from './create-batch.ts'
import { isOwnId } from './ids.ts'
import { cancelBatch, listBatches, retrieveBatch } from './own-batches.ts'
import { deleteFile, type FileContent, fileContent, listFiles, retrieveFile, uploadFile } from './own-files.ts'

/** Files and batches that Gatehouse keeps and runs itself. */
export interface ManagedMeans extends BatchMeans {
  readonly maxUploadBytes: number
}

/** The answer to such a request. */
export type ManagedAnswer = { readonly json: object } | { readonly content: FileContent }

type ManagedHandler = (managed: ManagedMeans, head: CallHead) => Promise<ManagedAnswer>

const json =
  (answer: (managed: ManagedMeans, head: CallHead) => Promise<object>): ManagedHandler =>
  async (managed, head) => ({ json: await answer(managed, head) })

/** The requests for one file or batch, which are Gatehouse's if it gave the id. */
const ofId: Readonly<Record<string, ManagedHandler>> = {
  retrieveFile: json(({ files }, head) => retrieveFile(files, head)),
  deleteFile: json(({ files }, head) => deleteFile(files, head)),
  retrieveFileContent: async ({ files }, head) => ({ content: await fileContent(files, head) }),
  retrieveBatch: json(({ batches }, head) => retrieveBatch(batches, head)),
  cancelBatch: json(({ batches }, head) => cancelBatch(batches, head)),
}

const lists: Readonly<Record<string, ManagedHandler>> = {
  listFiles: json(({ files }, head) => listFiles(files, head)),
  listBatches: json(({ batches }, head) => listBatches(batches, head)),
}

/** Returns the mode that a request asks for by `x-service-job-mode`; without it, one that names no provider is Gatehouse's. Throws `invalid_request`. */
function modeOf(head: CallHead): 'managed' | 'provider' {
  const said = head.headers.service.get('job-mode') ?? ''
  if (said === 'managed' || said === 'provider') return said
  if (said === '') return namesNoTarget(head) ? 'managed' : 'provider'
  const param = 'x-service-job-mode'
  throw new ApiError('invalid_request', `${param} must be managed or provider, not ${JSON.stringify(said.slice(0, 20))}.`, { param })
}

/**
 * Answers a request for files and batches of Gatehouse's own, which has no body to be read for a target; null: it is another, or one for a provider.
 * Rejects as the stores do.
 */
export function managedByHead(managed: ManagedMeans, head: CallHead): Promise<ManagedAnswer | null> | null {
  const { name, params } = head.operation
  const one = ofId[name]
  if (one !== undefined) {
    const isOwn = isOwnId('file', decodeSegment(params['file_id'] ?? '')) || isOwnId('batch', decodeSegment(params['batch_id'] ?? ''))
    return isOwn ? one(managed, head) : null
  }
  const list = lists[name]
  if (list !== undefined) return modeOf(head) === 'managed' ? list(managed, head) : null
  return name === 'uploadFile' && modeOf(head) === 'managed' ? uploaded(managed, head) : null
}

async function uploaded(managed: ManagedMeans, head: CallHead): Promise<ManagedAnswer | null> {
  const { headers } = head
  const isAsked = headers.service.get('job-mode') === 'managed'
  if (!isAsked && (!isForm(headers.contentType) || headers.contentEncoding !== '')) return null
  const stored = await uploadFile(managed, head, isAsked)
  return stored === null ? null : { json: stored }
}

/** Makes a batch of a file of Gatehouse's own; null: the call is another, or one for a provider. */
export function managedByCall(managed: ManagedMeans, call: Call): Promise<ManagedAnswer> | null {
  if (call.operation.name !== 'createBatch' || !isFields(call.body?.json)) return null
  const isAsked = call.headers.service.get('job-mode') === 'managed'
  return isAsked || isOwnId('file', call.body.json['input_file_id']) ? created(managed, call) : null
}

const created = async (managed: ManagedMeans, call: Call): Promise<ManagedAnswer> => ({ json: await createBatch(managed, call) })
