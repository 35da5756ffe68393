import type { Egress } from '../../gateway/ports/egress.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import { ApiError } from '../../lib/errors.ts'
import { callsTo } from './calls.ts'
import { makeClient } from './client.ts'
import type { Provider } from './provider.ts'
import { providerError } from './provider-error.ts'
import { z } from 'zod'

interface Step {
  readonly step: 'discovery' | 'keys'
  readonly ok: boolean
  readonly detail: string
}

/** Fetches the discovery document and the keys of a provider, as a sign-in would. Never rejects. */
export async function testSignIn(egress: Egress, provider: Provider): Promise<{ readonly ok: boolean; readonly steps: Step[] }> {
  const steps: Step[] = []
  const call: Call = { url: null, status: null }
  try {
    const { authorization_endpoint, token_endpoint, jwks_uri } = (
      await makeClient(egress, provider, (url, status) => Object.assign(call, { url, status }))
    ).serverMetadata()
    const missing = Object.entries({ authorization_endpoint, token_endpoint, jwks_uri }).flatMap(([name, url]) =>
      url === undefined ? [name] : [],
    )
    const detail =
      missing.length === 0 ? `People sign in at ${authorization_endpoint}.` : `The provider names no ${missing.join(' and no ')}.`
    steps.push({ step: 'discovery', ok: missing.length === 0, detail })
    if (jwks_uri !== undefined) steps.push(await keysOf(egress, jwks_uri, provider))
  } catch (error) {
    steps.push({ step: 'discovery', ok: false, detail: faultOf(error, call) })
  }
  return { ok: steps.every(({ ok }) => ok), steps }
}

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), use: z.string().optional() })) })

async function keysOf(egress: Egress, url: string, provider: Provider): Promise<Step> {
  try {
    const { status, text } = await tenantEgress(egress, provider).exchange({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      timeoutMs: 10_000,
      ...callsTo(provider),
    })
    if (status !== 200) return { step: 'keys', ok: false, detail: `The provider answered ${status} at ${url}.` }
    const signing = keySet.parse(JSON.parse(text)).keys.filter(({ use }) => use === undefined || use === 'sig')
    return { step: 'keys', ok: signing.length > 0, detail: `The provider has ${signing.length} keys to sign with.` }
  } catch (error) {
    return { step: 'keys', ok: false, detail: error instanceof ApiError ? error.message : `The answer of ${url} is no set of keys.` }
  }
}

/** The last call to the provider. */
interface Call {
  readonly url: string | null
  /** Null: it got no answer. */
  readonly status: number | null
}

function faultOf(error: unknown, { url, status }: Call): string {
  const fault = providerError(error)
  const message = fault.status === 401 ? 'The provider does not describe itself as OpenID Connect asks.' : fault.message
  if (url === null) return message
  return `${message} Asked was ${url}${status === null ? '' : `, which answered ${status}`}.`
}
