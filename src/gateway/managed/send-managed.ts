import { ApiError } from '../../lib/errors.ts'
import { answer } from '../answers/respond.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ManagedAnswer } from './managed.ts'
import type { FileContent } from './own-files.ts'

export interface SendingMeans {
  /** Our own headers of the answer. */
  readonly own: readonly string[]
  /** Makes the record of the exchange, which must be there before the last byte. */
  readonly record: (status: number) => void
}

/** Sends an answer of Gatehouse's own. Rejects with `client_closed` when the client leaves before it has all of it. */
export async function sendManaged(exchange: Exchange, given: ManagedAnswer, { own, record }: SendingMeans): Promise<void> {
  if ('json' in given) {
    record(200)
    answer(exchange, given.json, own)
    return
  }
  await sendContent(exchange, given.content, own)
  if (exchange.closed) throw new ApiError('client_closed', 'The client left before it had the whole file.')
  record(given.content.status)
  exchange.end()
}

/** Sends the content of a file but for its end, as fast as the client reads. */
async function sendContent(exchange: Exchange, { status, headers, bytes }: FileContent, own: readonly string[]): Promise<void> {
  const { requestId } = exchange
  let isBegun = false
  const begin = () => {
    exchange.head(status, status === 206 ? 'Partial Content' : 'OK', [
      ...own,
      ...headers,
      'x-request-id',
      requestId,
      'cache-control',
      'no-store',
      'date',
      new Date().toUTCString(),
    ])
    isBegun = true
  }
  for await (const piece of bytes) {
    if (exchange.closed) return
    // The first piece shows that the file can be opened.
    if (!isBegun) begin()
    if (!exchange.write(piece)) await drained(exchange)
  }
  if (!isBegun) begin()
}

function drained(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    exchange.onceDrained(resolve)
    exchange.onceClosed(resolve)
  })
}
