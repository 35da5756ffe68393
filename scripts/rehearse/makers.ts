import type { Maker } from './maker.ts'
import { apiKeys } from './makers/api-keys.ts'
import { audit, logs } from './makers/gateway.ts'
import { collections, configs, labels } from './makers/library.ts'
import { prompts } from './makers/prompts.ts'
import { integrations, providers, virtualKeys } from './makers/providers.ts'
import { organisations, users, workspaces } from './makers/tenancy.ts'

/** Who makes the data of each feature, by its id. A feature that is missing here cannot be rehearsed, and fails the rehearsal. */
export const makers: Readonly<Record<string, Maker>> = {
  organisations,
  workspaces,
  'api-keys': apiKeys,
  users,
  integrations,
  providers,
  'virtual-keys': virtualKeys,
  collections,
  labels,
  prompts,
  configs,
  logs,
  audit,
}
