import type { Config } from '../../config/config.ts'
import type { SigningMeans } from '../../gateway/ports/credentials.ts'
import { readSecret, createSecretCache, type SecretCache, type SecretOutcome } from '../../gateway/ports/secrets.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { workloadOf } from './workload-of.ts'

/** The signing of requests, with a listener for the secrets that it asks for. */
export interface OpenSigning extends SigningMeans {
  readonly secrets: SecretCache
  /** Sets the listener for each answer of a secret manager. */
  tell(listener: (outcome: SecretOutcome) => void): void
  /** Names the organisation that the settings call the first one. */
  offerToFirst(organisationId: string): void
}

export interface SigningOptions {
  readonly config: Pick<Config, 'identity' | 'secretTimes'>
  /** Epoch milliseconds. */
  readonly clock: { now(): number }
  readonly metrics: Metrics
}

/** Opens the secrets of external managers. No manager is asked yet. */
export function openSigning({ config, clock, metrics }: SigningOptions): OpenSigning {
  const { offeredTo } = config.identity
  const offered = new Set(offeredTo === 'all' ? [] : offeredTo)
  const workload = workloadOf(config.identity, offered)
  const now = () => clock.now()
  const listeners: ((outcome: SecretOutcome) => void)[] = []
  const secrets = createSecretCache({
    times: config.secretTimes,
    now,
    fetch: (reference, egress) =>
      readSecret(reference, { egress, now, workload, storedBy: reference.organisationId, timeoutMs: config.secretTimes.timeoutMs }),
    onOutcome(outcome) {
      metrics.secretRead(outcome.reference.manager, outcome.fault?.reason ?? 'read')
      for (const listener of listeners) listener(outcome)
    },
  })
  metrics.measure('gateway_secrets_held', () => secrets.size())
  metrics.measure('gateway_secrets_stale', () => secrets.stale())
  metrics.measure('gateway_secrets_failing', () => secrets.failing())
  return {
    secrets,
    workload,
    tell: (listener) => void listeners.push(listener),
    offerToFirst(organisationId) {
      if (offeredTo.includes('first')) offered.add(organisationId)
    },
  }
}
