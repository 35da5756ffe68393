import { clouds } from './catalog/clouds.ts'
import { openaiCompatible } from './catalog/openai-compatible.ts'
import { ownDialects } from './catalog/own-dialects.ts'
import { passThrough } from './catalog/pass-through.ts'
import type { Provider } from './provider.ts'

/** Every named provider. A row states only how it differs from its dialect. */
export const providers = { ...openaiCompatible, ...clouds, ...ownDialects, ...passThrough } as const satisfies Record<string, Provider>

export type ProviderId = keyof typeof providers

const byId: ReadonlyMap<string, Provider> = new Map<string, Provider>(Object.entries(providers))

/** The provider of that id, as the caller wrote it; null when there is none. */
export function findProvider(id: string): Provider | null {
  return byId.get(id) ?? null
}

/** The providers that a release brought, with that release. */
export const laterProviders: Readonly<Record<string, string>> = Object.fromEntries(
  [...byId].flatMap(([id, { since }]) => (since === undefined ? [] : [[id, since]])),
)
