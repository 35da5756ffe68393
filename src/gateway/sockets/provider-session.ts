import type { Call, CallHead } from '../call.ts'
import type { Egress } from '../egress/egress.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type InnerAnswer, performBy } from '../exchange/inner-exchange.ts'
import type { UpgradeExchange } from '../exchange/upgrade-exchange.ts'
import { type PipelineDeps, runExchange } from '../pipeline.ts'
import { findTarget } from '../targets/aim.ts'
import { demandModel } from '../targets/model-access.ts'
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

/**
 * Returns what throws for models that the provider of a session may not be asked for: a client may name some after the handshake. The rules are those of
 * the moment at which the session was opened; each turn is checked by those of its own.
 */
export async function demandModels(head: CallHead, deps: PipelineDeps): Promise<(name: string) => void> {
  const target = await findTarget(handshakeCall(head), null, deps)
  return (name) => demandModel(target, name)
}

/** Returns true for a session that goes on from a call, whose conversation was begun elsewhere. */
export const joinsCall = (url: string): boolean => new URLSearchParams(url.split('?', 2)[1] ?? '').has('call_id')

/** Returns the model in the query of a handshake, without the provider that may stand before it. */
export function modelOfQuery(url: string): string | null {
  const model = new URLSearchParams(url.split('?', 2)[1] ?? '').get('model')
  return model === null || model === '' ? null : model
}

type RunCall = (exchange: Exchange, call: Call, egress: Egress) => void

/** Returns what makes the turns of a session by the pipeline. */
export const turnRunner =
  (head: CallHead, egress: Egress, run: RunCall) =>
  ({ turn, caller, isOwed, signal }: TurnRequest): Promise<InnerAnswer> => {
    const { asked } = turn
    const body = Buffer.from(JSON.stringify(asked.json))
    const parts = { caller: caller ?? head.caller, bytes: body, asked, isOwed }
    const perform = (exchange: Exchange) => run(exchange, turnCall(head, { ...parts, exchange }), turn.egress(egress))
    const { clientAddress } = head.exchange
    return performBy(perform, { method: 'POST', url: '/v1/realtime', headers: [], body, clientAddress, ...(signal && { signal }) })
  }
