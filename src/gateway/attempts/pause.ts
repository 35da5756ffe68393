import type { IndexedSet } from '../../lib/collections/indexed-set.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { WaitingExchange } from './try-target.ts'

/** Waits before the next attempt. Rejects at once when the client leaves, or when a drain ends the exchange. */
export function pause(ms: number, exchange: Exchange, others: IndexedSet<WaitingExchange>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const waiting: WaitingExchange = { slot: -1, cut: (error) => end(error) }
  const onClose = () => end(new ApiError('client_closed', 'The client left while its request waited for another attempt.'))
  const timer = setTimeout(() => end(null), ms)
  const end = (error: ApiError | null) => {
    clearTimeout(timer)
    exchange.offClosed(onClose)
    others.remove(waiting)
    if (error === null) resolve()
    else reject(error)
  }
  others.add(waiting)
  exchange.onceClosed(onClose)
  if (exchange.closed) onClose()
  return promise
}
