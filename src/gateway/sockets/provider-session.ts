import type { Call, CallHead } from '../call.ts'
import type { Egress } from '../egress/egress.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type InnerAnswer, performBy } from '../exchange/inner-exchange.ts'
import type { UpgradeExchange } from '../exchange/upgrade-exchange.ts'
import { type PipelineDeps, runExchange } from '../pipeline.ts'
import { connectingEgress } from './provider-socket.ts'
import { handshakeCall, turnCall } from './realtime-call.ts'
import type { TurnRequest } from './realtime-turns.ts'

/**
 * Connects to the provider of a session by the pipeline: with its target, credential, guard and log row. Null: that failed, and the client has its
 * answer.
 */
export async function connectProvider(exchange: UpgradeExchange, head: CallHead, deps: PipelineDeps): Promise<OpenSocket | null> {
  const opened: OpenSocket[] = []
  const egress = connectingEgress(deps.egress, (socket) => void opened.push(socket))
  await runExchange({ ...deps, egress }, exchange, handshakeCall(head))
  const upstream = opened.at(-1) ?? null
  if (exchange.isAccepted && !exchange.closed) return upstream
  upstream?.terminate()
  return null
}

/** Returns the model in the query of a handshake, without the provider that may stand before it. */
export function modelOfQuery(url: string): string | null {
  const model = new URLSearchParams(url.split('?', 2)[1] ?? '').get('model')
  return model === null || model === '' ? null : model
}

type RunCall = (exchange: Exchange, call: Call, egress: Egress) => void

/** Returns what makes the turns of a session by the pipeline. */
export const turnRunner =
  (head: CallHead, egress: Egress, run: RunCall) =>
  ({ turn, caller, json, signal }: TurnRequest): Promise<InnerAnswer> => {
    const body = Buffer.from(JSON.stringify(json))
    const perform = (exchange: Exchange) => run(exchange, turnCall(head, { caller, exchange, bytes: body, json }), turn.egress(egress))
    const { clientAddress } = head.exchange
    return performBy(perform, { method: 'POST', url: '/v1/realtime', headers: [], body, clientAddress, signal })
  }
