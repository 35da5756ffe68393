import { setTimeout as sleep } from 'node:timers/promises'
import { exchange, type Outcome } from './load.ts'
import { adminKey } from './process.ts'

/** Asks the control plane as the organisation's admin. */
export const askAdmin = (origin: string, method: string, path: string, body?: unknown): Promise<Outcome> =>
  exchange({
    url: `${origin}/v1${path}`,
    method,
    headers: { 'x-service-api-key': adminKey },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

const retryWithinMs = 20_000
const retryEveryMs = 500

/** The same, for a request that must succeed, with the retries that a 503 asks for; resolves with the answer's fields. */
export async function manage(origin: string, method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
  const until = performance.now() + retryWithinMs
  let outcome = await askAdmin(origin, method, path, body)
  while (outcome.status === 503 && performance.now() < until) {
    await sleep(retryEveryMs)
    outcome = await askAdmin(origin, method, path, body)
  }
  if (outcome.status !== 200) throw new Error(`${method} ${path}: ${outcome.status ?? outcome.fault} ${outcome.text}`)
  return JSON.parse(outcome.text) as Readonly<Record<string, unknown>>
}

/** Stores an OpenAI account that is served at this URL, and its provider `@slug`. */
export const storeProvider = (origin: string, { slug, url, key = `sk-${slug}-0123456789` }: { slug: string; url: string; key?: string }) =>
  manage(origin, 'POST', '/integrations', {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key,
    default_provider_slug: slug,
    configurations: { custom_host: url },
  })
