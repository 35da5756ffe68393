import type { Readable } from 'node:stream'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { paceOf } from '../../lib/shares/pace.ts'
import { clientGone } from '../wire/collect.ts'
import { delimiterOf } from '../wire/form.ts'
import { createFormScan } from '../wire/form-scan.ts'
import type { FileFacts, FileWriter, StoredFile } from './file-store.ts'
import { workTurn } from './work-turn.ts'

/** A form whose model may stand behind its file is held up to here, as long as it may be meant for a provider. */
const mostHeld = 32 * 1024 * 1024
/** Held bytes are read in slices, so that other work goes on meanwhile. */
const sliceBytes = 128 * 1024
const fieldOfModel: ReadonlySet<string> = new Set(['model'])

/** The bytes of a form that names no model. */
export interface OpenForm {
  readonly held: Buffer
  /** True: these are all. */
  readonly isWhole: boolean
}

/** A form of which nothing was read. */
export const unreadForm: OpenForm = { held: Buffer.alloc(0), isWhole: false }

/** Looks for the provider that a form names in its model; null: it names one, and its bytes are put back for the pipeline. */
export function openForm(body: Readable, contentType: string, owner: string): Promise<OpenForm | null> {
  const delimiter = delimiterOf(contentType)
  if (delimiter === null || body.destroyed) return Promise.resolve(null)
  return new Promise((resolve, reject) => {
    const held = new ByteList()
    let found = false
    const pace = paceOf(owner, body)
    const scan = createFormScan(delimiter, { names: fieldOfModel, tell: () => (found = true) })
    const settle = (how: () => void) => {
      pace.end()
      body.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      how()
    }
    const giveBack = () => {
      body.pause()
      body.unshift(held.join())
      resolve(null)
    }
    const goOn = () => {
      body.pause()
      resolve({ held: held.join(), isWhole: false })
    }
    const onData = (chunk: Buffer) => {
      held.push(chunk)
      scan(chunk)
      if (found) settle(giveBack)
      else if (held.size > mostHeld) settle(goOn)
      else pace.took(chunk.length)
    }
    const onEnd = () => settle(() => resolve({ held: held.join(), isWhole: true }))
    const onGone = () => settle(() => reject(clientGone()))
    body.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

/** Returns the bytes of a form of an organisation, those that were held first. */
export async function* bytesOf(body: Readable, { held, isWhole }: OpenForm, owner: string): AsyncIterable<Buffer> {
  for (let at = 0; at < held.length; at += sliceBytes) {
    await workTurn(owner, held.length)
    yield held.subarray(at, at + sliceBytes)
  }
  if (isWhole) return
  // The client still has to read its answer when the form is refused.
  const rest: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false })
  yield* rest
}

const mostFields = 32
const fieldNames: ReadonlySet<string> = new Set(['purpose', 'expires_after[anchor]', 'expires_after[seconds]'])

/** The facts of one upload. */
export interface UploadOptions {
  readonly contentType: string
  readonly maxBytes: number
  /** Called when the file begins. */
  readonly begin: (name: string) => Promise<FileWriter>
  /** Checks the fields. Throws `invalid_request`. */
  readonly facts: (fields: ReadonlyMap<string, string>) => FileFacts
}

/** Stores the one file of a form as its bytes come. After any failure it is gone. */
export async function storeUpload(bytes: AsyncIterable<Buffer>, options: UploadOptions): Promise<StoredFile> {
  let writer: FileWriter | null = null
  try {
    const scan = scanUpload(options.contentType)
    for await (const chunk of bytes) {
      const taken = scan.take(chunk)
      if (scan.name === null) continue
      writer ??= await options.begin(scan.name)
      for (const piece of taken) await writer.write(piece)
      if (scan.size > options.maxBytes) throw tooLong(options.maxBytes)
    }
    scan.end()
    if (writer === null) throw missingFile()
    return await writer.commit(options.facts(scan.fields))
  } catch (error) {
    await writer?.abandon()
    throw isAborted(error) ? clientGone() : error
  }
}

interface UploadScan {
  /** The name of the file, once it has begun. */
  readonly name: string | null
  readonly size: number
  readonly fields: ReadonlyMap<string, string>
  /** Returns the bytes of the file in a chunk of the form. */
  take(chunk: Buffer): readonly Buffer[]
  /** Throws when the form ended early. */
  end(): void
}

function scanUpload(contentType: string): UploadScan {
  const delimiter = delimiterOf(contentType)
  if (delimiter === null) throw refused('The upload must be a form: send it as multipart/form-data with one boundary.', 'content-type')
  const fields = new Map<string, string>()
  const last = Buffer.from(`${delimiter}--`)
  let [tail, name, size] = [Buffer.alloc(0), null as string | null, 0]
  let taken: Buffer[] = []
  const scan = createFormScan(delimiter, {
    names: fieldNames,
    tell({ name: field, text }) {
      if (fields.has(field)) throw refused(`${field} came twice in the form. Send it once.`, field)
      if (fields.size < mostFields) fields.set(field, text)
    },
    file(field, filename) {
      if (field !== 'file') return null
      if (name !== null) throw refused('The form has more than one file. Send one.', 'file')
      name = filename
      return (piece) => void taken.push(piece)
    },
    unclear() {
      throw refused('A part of the form can be read in more than one way. Write its head as OpenAI clients do.', 'file')
    },
  })
  return {
    fields,
    get name() {
      return name
    },
    get size() {
      return size
    },
    take(chunk) {
      taken = []
      scan(chunk)
      tail = Buffer.concat([tail, chunk]).subarray(-last.length - 8)
      for (const piece of taken) size += piece.length
      return taken
    },
    end() {
      if (!tail.includes(last)) throw refused('The form ends before its last boundary.', 'file')
    },
  }
}

const isAborted = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ERR_STREAM_PREMATURE_CLOSE' || error.code === 'ECONNRESET' || error.code === 'ABORT_ERR')

const refused = (message: string, param: string): ApiError => new ApiError('invalid_request', message, { param })

const missingFile = (): ApiError => refused('file is missing: the form has no part of this name with a filename.', 'file')

const tooLong = (most: number): ApiError =>
  new ApiError('payload_too_large', `The file is longer than ${most} bytes, which is the most.`, { param: 'file' })
