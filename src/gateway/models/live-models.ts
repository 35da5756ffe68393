import { parseJson } from '../../lib/json/json.ts'
import type { ProviderView } from '../targets/provider-view.ts'
import { findProvider } from '../providers/catalog.ts'
import { readModelList } from '../dialects/model-lists.ts'
import type { ListedModel } from '../dialects/neutral/model.ts'
import { askProvider, type ProviderAccess } from './ask-provider.ts'
import { listPathOf } from './list-path.ts'

/** Null: the provider has no list that we can read, or did not give it. */
export type LiveModels = readonly ListedModel[] | null

const timeoutMs = 3000
const freshMs = 5 * 60 * 1000
const retryMs = 30 * 1000

interface HeldModels {
  readonly models: LiveModels
  readonly until: number
}

/** By the view of the provider, which is another one after each change of its credential or host: so no entry has to be invalidated. */
const held = new WeakMap<ProviderView, HeldModels>()
const asked = new WeakMap<ProviderView, Promise<LiveModels>>()

/**
 * The models that a provider itself lists, five minutes old at most when it answers within three seconds. A later caller gets the former list at once
 * while the next one is fetched.
 */
export function liveModels(view: ProviderView, access: ProviderAccess): LiveModels | Promise<LiveModels> {
  const found = held.get(view)
  if (found !== undefined && found.until > performance.now()) return found.models
  const running = asked.get(view) ?? refresh(view, access)
  return found?.models ?? running
}

function refresh(view: ProviderView, access: ProviderAccess): Promise<LiveModels> {
  const started = ask(view, access)
    .catch(() => null)
    .then((models) => {
      const known = models ?? held.get(view)?.models ?? null
      held.set(view, { models: known, until: performance.now() + (models === null ? retryMs : freshMs) })
      return known
    })
    .finally(() => asked.delete(view))
  asked.set(view, started)
  return started
}

async function ask(view: ProviderView, access: ProviderAccess): Promise<LiveModels> {
  const provider = findProvider(view.provider)
  const path = provider === null ? null : listPathOf(provider)
  if (provider === null || path === null) return null
  const question = {
    target: { ...targetOf(view), provider },
    path,
    timeoutMs,
    ...(provider.lists !== undefined && { endpoint: provider.lists }),
  }
  const answer = await askProvider(question, access)
  return answer.status === 200 ? readModelList(parseJson(Buffer.from(answer.text))) : null
}

const targetOf = (view: ProviderView) => ({
  providerId: view.provider,
  view,
  credential: view.credential,
  secrets: view.secrets,
  storedBy: view.organisationId,
  isCallers: false,
  customHost: view.customHost === null ? null : { url: view.customHost, param: 'custom_host' },
  customHeaders: view.customHeaders,
  namedBy: 'stored' as const,
  model: null,
  modelRewritten: false,
  skipsPtuCost: false,
})
