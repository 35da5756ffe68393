import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { schemaFaults, toIssues } from '../../lib/json/schema-faults.ts'
import { createTurns } from '../../lib/shares/turns.ts'
import { validateBody } from '../bounds/validate.ts'
import type { Call, CallHead } from '../call.ts'
import { ownerOf, readerOf } from '../stored-responses/response-readers.ts'
import { headerValue } from '../wire/header-list.ts'
import { toBatch } from './batch-answer.ts'
import type { BatchStore, NewBatch, NewLine, StoredBatch } from './batch-store.ts'
import type { FileStore, StoredFile } from './file-store.ts'
import { isOfTenant, isOwnId } from './ids.ts'
import { batchEndpoints, checkLine, type InputLine, type LineFault, linesOf } from './input-lines.ts'
import { noFile } from './own-files.ts'
import { refuseCredentials } from './refuse-credentials.ts'
import { workTurn } from './work-turn.ts'

export interface BatchMeans {
  readonly files: FileStore
  readonly batches: BatchStore
  /** The most bytes of one line. */
  readonly longestLine: number
  /** Called when there are lines to run. */
  readonly wake: () => void
}

const mostLines = 100_000
/** The lines of a file, with blank ones. */
const mostWithBlank = 2 * mostLines
/** So many batches are made at once: each reads a file. */
const inPlace = createTurns({
  most: 8,
  mostOfOne: 2,
  mostWaiting: 64,
  tooMany: () =>
    new ApiError('overloaded', 'The organisation makes too many batches at once. Try again when one is there.', { retryAfter: 1 }),
})
/** So many faults are reported; a file with more is read no further. */
const mostFaults = 100
const linesOfSlice = 1000
const hour = 3600
const longestWindow = 168
const longestOutput = 30 * 24 * hour

const asked = z.object({
  input_file_id: z.string(),
  endpoint: z.enum(Object.keys(batchEndpoints)),
  completion_window: z.string().regex(/^[1-9]\d{0,2}h$/, `must be hours, from "1h" to "${longestWindow}h"`),
  metadata: z.record(z.string(), z.string()).nullish(),
  output_expires_after: z.object({ anchor: z.literal('created_at'), seconds: z.int().min(hour).max(longestOutput) }).nullish(),
})
type BatchRequest = z.output<typeof asked>

/** Creates a batch from the lines of a file, all of which are checked first. Throws `invalid_request` with the faults of all lines. */
export async function createBatch(means: BatchMeans, call: Call): Promise<object> {
  const { key } = call.caller
  refuseCredentials(call)
  const wanted = readAsked(call)
  const file = await inputOf(means.files, call, wanted.input_file_id)
  await demandRoom(means.files, call)
  const id = await inPlace(key.organisationId, () => startBatch(means, call, { wanted, file }))
  means.wake()
  const made: StoredBatch | null = await means.batches.get(id, readerOf(key))
  if (made === null) throw new ApiError('not_found', `The batch ${id} is gone.`)
  return toBatch(made)
}

interface BatchSource {
  readonly wanted: BatchRequest
  readonly file: StoredFile
}

/** Starts a batch, and returns its id. */
async function startBatch(means: BatchMeans, call: Call, { wanted, file }: BatchSource): Promise<string> {
  const { key } = call.caller
  const id = await means.batches.begin(ownerOf(key), toNew(call, wanted))
  try {
    const total = await takeLines(means, call, { id, file, endpoint: wanted.endpoint })
    await means.batches.start(id, key, total)
    return id
  } catch (error) {
    await means.batches.drop(id, key).catch(() => {})
    throw error
  }
}

function readAsked({ body }: Call): BatchRequest {
  validateBody('createBatch', body?.json, 'lenient')
  const read = parseGiven(asked, body?.json)
  if (!read.success) {
    const faults = schemaFaults(read.error, { value: body?.json, whole: 'body' })
    throw new ApiError('invalid_request', faults.map(({ param, message }) => `${param}: ${message}.`).join(' '), {
      param: faults[0]?.param ?? 'body',
      details: { issues: toIssues(faults) },
    })
  }
  if (Number.parseInt(read.data.completion_window, 10) > longestWindow)
    throw new ApiError('invalid_request', `completion_window must be at most "${longestWindow}h".`, { param: 'completion_window' })
  return read.data
}

async function inputOf(files: FileStore, { caller: { key } }: CallHead, id: string): Promise<StoredFile> {
  if (!isOwnId('file', id))
    throw new ApiError('invalid_request', `input_file_id: ${id.slice(0, 100)} is no file that Gatehouse keeps.`, { param: 'input_file_id' })
  const file = isOfTenant('file', id, key) ? await files.get(id, readerOf(key)) : null
  if (file === null) throw noFile(id, 'input_file_id')
  if (file.purpose === 'batch') return file
  throw new ApiError('invalid_request', `input_file_id: the file is for ${file.purpose}. Upload it with the purpose batch.`, {
    param: 'input_file_id',
  })
}

/** Its results take room that uploads could take: without any, no line is paid for. */
async function demandRoom(files: FileStore, { caller: { key } }: CallHead): Promise<void> {
  if ((await files.left(key)) > 0) return
  throw new ApiError(
    'payload_too_large',
    'There is no room for results: the quota of this workspace or organisation is used up. Delete files that are not needed any more.',
    { param: 'input_file_id' },
  )
}

const toNew = (call: CallHead, wanted: BatchRequest): NewBatch => ({
  endpoint: wanted.endpoint,
  inputFileId: wanted.input_file_id,
  window: wanted.completion_window,
  windowSeconds: Number.parseInt(wanted.completion_window, 10) * hour,
  outputSeconds: wanted.output_expires_after?.seconds ?? longestOutput,
  options: { metadata: wanted.metadata ?? null, headers: headersOfLines(call) },
  clientAddress: call.exchange.clientAddress,
})

/** The headers that mean the request for the batch, and none of its lines. */
const ownOfBatch: ReadonlySet<string> = new Set(['api-key', 'job-mode', 'span-id', 'span-name'])
const passed = ['anthropic-beta', 'anthropic-version', 'openai-beta'] as const

/** A line is sent as the batch was made: to its provider or config, with its metadata. */
function headersOfLines({ headers: { service, forward } }: CallHead): readonly string[] {
  const own = [...service].flatMap(([name, value]) => (ownOfBatch.has(name) ? [] : [`x-service-${name}`, value]))
  return [...own, ...passed.flatMap((name) => (headerValue(forward, name) === undefined ? [] : [name, headerValue(forward, name) ?? '']))]
}

interface LineSource {
  readonly id: string
  readonly file: StoredFile
  readonly endpoint: string
}

/** Checks all lines and stores where they stand; returns their number. At most one line, and the places of a slice, are in memory. */
async function takeLines({ files, batches, longestLine }: BatchMeans, call: CallHead, taken: LineSource): Promise<number> {
  const { id, file, endpoint } = taken
  const { key } = call.caller
  const faults: LineFault[] = []
  const slice: NewLine[] = []
  const store = async () => {
    const lines = slice.splice(0)
    if (lines.length > 0 && faults.length === 0) await batches.addLines(id, key, lines)
  }
  let total = 0
  for await (const input of linesOf(piecesOf(files, call, file), { longest: longestLine, blankUpTo: mostWithBlank })) {
    await turnOf(call, input.bytes?.length ?? 0)
    total += 1
    const isTooMany = isBeyond(total, input)
    const checked = isTooMany ? { faults: [tooMany(input)] } : checkLine(input, endpoint, longestLine)
    if ('faults' in checked) faults.push(...checked.faults)
    else slice.push(checked.request)
    if (faults.length >= mostFaults || isTooMany) break
    if (slice.length >= linesOfSlice) await store()
  }
  await store()
  if (total === 0) faults.push(noLines)
  if (faults.length === 0) faults.push(...(await batches.doubles(id, key, mostFaults)).map(doubled))
  if (faults.length > 0) throw faulty(faults.slice(0, mostFaults))
  return total
}

/** Reads a file. A long one takes a turn for each piece, also one of blank lines alone. */
async function* piecesOf(files: FileStore, call: CallHead, { id, bytes }: StoredFile): AsyncIterable<Buffer> {
  for await (const piece of files.read(id, call.caller.key, { start: 0, end: bytes })) {
    await turnOf(call, bytes)
    yield piece
  }
}

/** Waits for the turn to read a long line, or a piece of a long file. */
async function turnOf({ caller, exchange }: CallHead, bytes: number): Promise<void> {
  if (exchange.closed) throw new ApiError('client_closed', 'The client left before its batch was made.')
  await workTurn(caller.key.organisationId, bytes)
}

const isBeyond = (total: number, { line }: InputLine): boolean => total > mostLines || line > mostWithBlank

const noLines: LineFault = { line: 1, code: 'empty_file', param: null, message: 'The file has no lines.' }

const tooMany = ({ line }: InputLine): LineFault => ({
  line,
  code: 'too_many_lines',
  param: null,
  message: `A batch has at most ${mostLines} lines, and its file at most ${mostWithBlank} with blank ones.`,
})

const doubled = (line: number): LineFault => ({
  line,
  code: 'duplicate_custom_id',
  param: 'custom_id',
  message: 'custom_id: a line before it has the same.',
})

/** Names the first fault, and lists all in the shape of the field `errors` of a batch. */
function faulty(faults: readonly LineFault[]): ApiError {
  const [first] = faults
  const others =
    faults.length > 1
      ? ` There are ${faults.length} faults; errors lists them${faults.length === mostFaults ? ' up to this number' : ''}.`
      : ''
  return new ApiError('invalid_request', `Line ${first?.line ?? 1} of the input file: ${first?.message ?? ''}${others}`, {
    param: 'input_file_id',
    details: { line: first?.line ?? 1, errors: { object: 'list', data: faults } },
  })
}
