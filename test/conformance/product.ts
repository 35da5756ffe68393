import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../support/gateway.ts'
import type { Fixture } from './cases.ts'
import type { Cell } from './expected.ts'
import { providers, talkers } from './sides/index.ts'
import type { Address, ClientId, Talk } from './talk.ts'

/** The data plane, with a provider of each dialect: one emulator stands for all of them. */
export interface Product {
  readonly bed: GatewayBed
  readonly emulator: Emulator
  stop(): Promise<void>
}

export type SpokenCell = Cell & { readonly client: ClientId }

export async function startProduct(): Promise<Product> {
  const emulator = await startEmulator()
  const views = Object.entries(providers).map(([id, { row, fields, base }]) => [
    id,
    { provider: row, customHost: `${emulator.origin}${base}`, credential: { key: row === 'bedrock' ? null : 'sk-upstream', fields } },
  ])
  const bed = await startGateway({ providers: Object.fromEntries(views) })
  return {
    bed,
    emulator,
    async stop() {
      await bed.stop()
      await emulator.stop()
    },
  }
}

/** The address at which the client of a cell reaches its provider. */
export function addressAt({ origin }: GatewayBed, { client, provider }: SpokenCell, thinks = false): Address {
  const { modelFor, extraFor, model, thinker = model } = providers[provider]
  const extra = extraFor?.[client]
  return {
    origin,
    key: workspaceKey,
    headers: { 'x-service-provider': `@${provider}` },
    model: modelFor?.[client] ?? (thinks ? thinker : model),
    ...(extra !== undefined && { extra }),
  }
}

/** Talks through a fixture: a question, and the results of the calls with which it is answered. */
export async function converse(bed: GatewayBed, { ask, results, stream }: Fixture, cell: SpokenCell): Promise<readonly Talk[]> {
  const first = await talkers[cell.client](addressAt(bed, cell, ask.thinks)).talk(ask, stream)
  if (results === undefined) return [first]
  return [first, await first.answer(first.calls.map(({ id, name }) => ({ result: { id, name, text: results[name] ?? '' } })))]
}
