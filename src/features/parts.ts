import { feature } from '../app/feature.ts'
import { keepLimits } from './limits/index.ts'

/** Additions of a release without routes of their own: each is marked where it is declared. */
const part = { permissions: [], entities: [], routes: [] }

export const parts = [
  feature({ id: 'model-pricing-sources', since: '1.7.0', changes: ['1.11.0'], ...part }),
  feature({ id: 'health-service-identifier', since: '1.7.0', ...part }),
  feature({ id: 'hosted-provider', since: '1.7.0', ...part }),
  feature({ id: 'provider-beta-option', since: '1.7.3', requires: ['configs'], ...part }),
  feature({ id: 'deployments', since: '1.4.0', changes: ['1.8.0'], incomplete: 'Only its scopes can be given.', ...part }),
  feature({ id: 'ptu-cost-attribution', since: '1.8.0', ...part }),
  feature({ id: 'analytics-access', since: '1.9.0', ...part }),
  feature({ id: 'retention-display', since: '1.9.0', requires: ['organisations'], ...part }),
  feature({ id: 'usage-limits', since: '1.3.0', changes: ['1.11.1'], ...part, jobs: [keepLimits] }),
  feature({ id: 'workspace-budget-reset', since: '1.3.0', ...part }),
  feature({ id: 'budget-auto-reactivation', since: '1.7.0', ...part }),
  feature({ id: 'api-key-periodic-reset', since: '1.7.0', ...part }),
  feature({ id: 'usage-periodic-reset-days', since: '1.10.0', ...part }),
  feature({ id: 'provider-service-auth', since: '1.3.0', ...part }),
  feature({ id: 'provider-region', since: '1.6.0', ...part }),
  feature({ id: 'workload-identity-auth', since: '1.10.0', ...part }),
  feature({ id: 'workload-identity-log-store', since: '1.12.0', ...part }),
]
