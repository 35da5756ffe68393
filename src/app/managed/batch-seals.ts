import { z } from 'zod'
import type { LogPlace, LogSeal } from '../../gateway/ports/journal.ts'
import type { BatchOptions } from '../../gateway/ports/managed.ts'
import type { ProviderScope } from '../../gateway/ports/callers.ts'
import { ApiError } from '../../lib/errors.ts'

const kept = z.object({ metadata: z.record(z.string(), z.string()).nullable(), headers: z.array(z.string()) })

/** A batch of a tenant. */
export interface SealedBatch {
  readonly id: string
  readonly scope: Pick<ProviderScope, 'organisationId'>
}

/** The places to which sealed values are bound. No log has such an id. */
const place = (id: string, { organisationId }: SealedBatch['scope']): LogPlace => ({ id: `batch ${id}`, organisationId, createdAt: 0 })

export const sealOptions = (seal: LogSeal, { id, scope }: SealedBatch, options: BatchOptions): Buffer =>
  Buffer.concat(seal.seal(place(id, scope), [Buffer.from(JSON.stringify(options))]))

export const openOptions = (seal: LogSeal, { id, scope }: SealedBatch, sealed: Buffer): BatchOptions =>
  opened(id, () => kept.parse(JSON.parse(seal.open(place(id, scope), sealed).toString('utf8'))))

export const sealResult = (
  seal: LogSeal,
  { id, scope }: SealedBatch,
  { line, text }: { readonly line: number; readonly text: Buffer },
): Buffer => Buffer.concat(seal.seal(place(`${id} ${line}`, scope), [text]))

export const openResult = (
  seal: LogSeal,
  { id, scope }: SealedBatch,
  { line, sealed }: { readonly line: number; readonly sealed: Buffer },
): Buffer => opened(id, () => seal.open(place(`${id} ${line}`, scope), sealed))

export const sealCustomId = (
  seal: LogSeal,
  { id, scope }: SealedBatch,
  { line, customId }: { readonly line: number; readonly customId: string },
): Buffer => Buffer.concat(seal.seal(place(`${id} ${line} custom_id`, scope), [Buffer.from(customId)]))

export const openCustomId = (
  seal: LogSeal,
  { id, scope }: SealedBatch,
  { line, sealed }: { readonly line: number; readonly sealed: Buffer },
): string => opened(id, () => seal.open(place(`${id} ${line} custom_id`, scope), sealed).toString('utf8'))

function opened<T>(id: string, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    throw new ApiError('sealed', `The batch ${id} cannot be opened: it was sealed with another ENCRYPTION_KEY, or was changed.`, { cause })
  }
}
