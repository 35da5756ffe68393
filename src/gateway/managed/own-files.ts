import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { createTurns } from '../../lib/shares/turns.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import type { CallHead } from '../call.ts'
import { readQuery } from '../bounds/validate.ts'
import { ownerOf, readerOf } from '../stored-responses/response-readers.ts'
import type { FileFacts, FileStore, StoredFile } from './file-store.ts'
import { isOfTenant } from './ids.ts'
import { rangeOf } from './range.ts'
import { bytesOf, openForm, storeUpload, unreadForm } from './upload-form.ts'

/** The purposes of uploads. Files of the purpose `batch_output` come from batches alone. */
export const purposes = ['assistants', 'batch', 'evals', 'fine-tune', 'user_data', 'vision'] as const
/** No file is longer, also where the installation takes longer bodies. */
const mostBytes = 512 * 1024 * 1024
const day = 86_400
/** The life of a file for a batch, unless its maker says so. */
const livesOfBatch = 30 * day

const facts = z.object({
  purpose: z.enum(purposes),
  'expires_after[anchor]': z.literal('created_at').optional(),
  'expires_after[seconds]': z.coerce.number().int().min(3600).max(livesOfBatch).optional(),
})

/** Returns the facts in the fields of an upload. Throws `invalid_request`. */
function factsOf(fields: ReadonlyMap<string, string>): FileFacts {
  const read = parseGiven(facts, Object.fromEntries(fields))
  const fault = read.error?.issues[0]
  if (!read.success) {
    const param = String(fault?.path[0] ?? 'purpose')
    throw new ApiError('invalid_request', `${param}: ${fault?.message ?? 'is not valid'}. Purposes are ${purposes.join(', ')}.`, { param })
  }
  const { purpose, 'expires_after[seconds]': asked } = read.data
  return { purpose, livesSeconds: asked ?? (purpose === 'batch' ? livesOfBatch : null) }
}

/** So many uploads of one organisation a process takes at once. */
const mostAtOnce = 8
const inPlace = createTurns({
  most: 8 * mostAtOnce,
  mostOfOne: mostAtOnce,
  mostWaiting: 0,
  tooMany: () =>
    new ApiError(
      'overloaded',
      `The organisation uploads ${mostAtOnce} files already, or all together too many. Try again when one is there.`,
      {
        retryAfter: 1,
      },
    ),
})

export interface UploadMeans {
  readonly files: FileStore
  readonly maxUploadBytes: number
}

/**
 * Stores the file of an upload; null: its form names a provider in its model, and goes there, unless a header asks for Gatehouse. The upload has its
 * place before its form is read: the bytes that are held of it count too.
 */
export function uploadFile({ files, maxUploadBytes }: UploadMeans, head: CallHead, isAsked: boolean): Promise<object | null> {
  const { exchange, headers, caller } = head
  const { organisationId } = caller.key
  return inPlace(organisationId, async () => {
    const form = isAsked ? unreadForm : await openForm(exchange.body, headers.contentType, organisationId)
    if (form === null) return null
    const stored = await storeUpload(bytesOf(exchange.body, form, organisationId), {
      contentType: headers.contentType,
      maxBytes: Math.min(maxUploadBytes, mostBytes),
      begin: (name) =>
        files.begin(ownerOf(caller.key), { name: name.slice(0, 255), purpose: 'user_data', livesSeconds: day, batchId: null }),
      facts: factsOf,
    })
    return toFile(stored)
  })
}

const toFile = ({ id, name, purpose, bytes, createdAt, expiresAt }: StoredFile): object => ({
  id,
  object: 'file',
  bytes,
  created_at: createdAt,
  expires_at: expiresAt,
  filename: name,
  purpose,
  status: 'processed',
})

const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  after: z.string().min(1).optional(),
  purpose: z.string().min(1).optional(),
})
/** A page has no more, also where it asks for more; clients go on by `has_more`. */
const longestPage = 1000

export async function listFiles(files: FileStore, { caller, path }: CallHead): Promise<object> {
  const asked = readQuery(listQuery, path.split('?', 2)[1] ?? '')
  const limit = Math.min(asked.limit ?? longestPage, longestPage)
  const page = { limit: limit + 1, order: asked.order ?? 'desc', after: asked.after ?? null, purpose: asked.purpose ?? null } as const
  const found = await files.list(readerOf(caller.key), page)
  return listOf(found, limit, toFile)
}

/** Returns a page of a list of which one more than asked was read. */
export function listOf<T extends { readonly id: string }>(found: readonly T[], limit: number, toAnswer: (one: T) => object): object {
  const data = found.slice(0, limit)
  return {
    object: 'list',
    data: data.map(toAnswer),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}

/** The file of a request, as far as its caller may see it. Throws `not_found`. */
async function fileOf(files: FileStore, { caller, operation }: CallHead): Promise<StoredFile> {
  const id = decodeSegment(operation.params['file_id'] ?? '')
  const found = isOfTenant('file', id, caller.key) ? await files.get(id, readerOf(caller.key)) : null
  if (found === null) throw noFile(id, 'file_id')
  return found
}

export const noFile = (id: string, param: string): ApiError =>
  new ApiError(
    'not_found',
    `No such File object: ${id}. It was deleted, its time is over, or it belongs to another workspace, or to another key whose logs this one may not view.`,
    { param },
  )

export const retrieveFile = async (files: FileStore, head: CallHead): Promise<object> => toFile(await fileOf(files, head))

export async function deleteFile(files: FileStore, head: CallHead): Promise<object> {
  const { id } = await fileOf(files, head)
  const done = await files.remove(id, readerOf(head.caller.key))
  if (done === 'absent') throw noFile(id, 'file_id')
  if (done === 'in use')
    throw new ApiError('AB07', `The file ${id} is the input of a batch that has not ended. Cancel the batch, or delete the file later.`, {
      param: 'file_id',
    })
  return { id, object: 'file', deleted: true }
}

/** The content of a file, or the part of it that is asked for. */
export interface FileContent {
  readonly status: 200 | 206
  readonly headers: readonly string[]
  readonly bytes: AsyncIterable<Buffer>
}

export async function fileContent(files: FileStore, head: CallHead): Promise<FileContent> {
  const { id, bytes: size } = await fileOf(files, head)
  const range = rangeOf(head.exchange.header('range'), size)
  const { start, end } = range ?? { start: 0, end: size }
  return {
    status: range === null ? 200 : 206,
    headers: [
      'content-type',
      'application/octet-stream',
      'content-length',
      String(end - start),
      'accept-ranges',
      'bytes',
      ...(range === null ? [] : ['content-range', `bytes ${start}-${end - 1}/${size}`]),
    ],
    bytes: files.read(id, head.caller.key, { start, end }),
  }
}
