import type { StoredCredentials } from '../../gateway/checks/check.ts'
import type { Guardrail } from '../../gateway/checks/guardrail.ts'
import type { ConfigView, KeyView, ListedProvider, ProviderView, TokenHolder, TokenIssuer } from '../../gateway/ports.ts'
import type { Prompt } from '../../gateway/prompts/prompt.ts'
import type { Change } from './change-feed.ts'
import { anyPlugin } from './plugin-views.ts'
import { anyPartial } from './prompts.ts'
import { anyProvider } from './provider-lists.ts'
import { anyPerson } from './token-views.ts'
import { createViewCache, type ViewCache } from './view-cache.ts'

/** What a process keeps in memory of the control plane, by kind. */
export interface Caches {
  readonly keys: ViewCache<KeyView>
  readonly providers: ViewCache<ProviderView>
  readonly providerLists: ViewCache<readonly ListedProvider[]>
  readonly configs: ViewCache<ConfigView>
  readonly guardrails: ViewCache<Guardrail>
  readonly plugins: ViewCache<StoredCredentials>
  readonly prompts: ViewCache<Prompt>
  readonly issuers: ViewCache<TokenIssuer>
  readonly holders: ViewCache<TokenHolder>
}

const limits = { maxViews: 100_000, maxMisses: 10_000, missTtlMs: 10_000, now: () => performance.now() } as const
const MiB = 1024 * 1024
/** Configs and guardrails are larger than keys, and their patterns larger still. */
const documentLimits = { ...limits, maxViews: 20_000, maxWeight: 128 * MiB, maxWeightOfOwner: 32 * MiB }
/** Templates are as long as their authors make them. */
const maxTemplateWeight = 64 * MiB

export const openCaches = (): Caches => ({
  keys: createViewCache(limits),
  providers: createViewCache(limits),
  providerLists: createViewCache(documentLimits),
  configs: createViewCache(documentLimits),
  guardrails: createViewCache(documentLimits),
  plugins: createViewCache(limits),
  prompts: createViewCache({ ...limits, maxWeight: maxTemplateWeight }),
  issuers: createViewCache(limits),
  holders: createViewCache(limits),
})

const every = ['keys', 'providers', 'providerLists', 'configs', 'guardrails', 'plugins', 'prompts', 'issuers', 'holders'] as const

/** What was absent may be there now, by a change of a table. */
const missedBefore = new Map<string, readonly (keyof Caches)[]>([
  ['organisations', every],
  ['workspaces', every],
  ['api_keys', ['keys']],
  ['providers', ['providers']],
  ['integrations', ['providers']],
  ['configs', ['configs']],
  ['guardrails', ['guardrails']],
  ['plugins', ['plugins']],
  ['prompts', ['prompts']],
  ['labels', ['prompts']],
])

export function forgetChanged(caches: Caches, { kind, entityId }: Change): void {
  for (const name of every) caches[name].forget(entityId)
  for (const name of missedBefore.get(kind) ?? []) caches[name].forgetMisses()
  if (kind === 'prompt_partials') caches.prompts.forget(anyPartial)
  if (kind === 'plugins') caches.plugins.forget(anyPlugin)
  if (kind === 'providers') caches.providerLists.forget(anyProvider)
  if (kind === 'users') caches.holders.forget(anyPerson)
}

export function forgetAll(caches: Caches): void {
  for (const name of every) caches[name].clear()
}

/** How many views are being read now. */
export const loading = (caches: Caches): number => every.reduce((sum, name) => sum + caches[name].loading(), 0)
