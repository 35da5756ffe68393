import type { Maker } from './maker.ts'
import { apiKeys } from './makers/api-keys.ts'
import { logs } from './makers/gateway.ts'
import { collections, configs, labels } from './makers/library.ts'
import { prompts } from './makers/prompts.ts'
import { integrations, providers, virtualKeys } from './makers/providers.ts'
import { organisations, setting, users, workspaces } from './makers/tenancy.ts'

/** Of features that have neither routes nor settings of their own: what they do shows in the data of others. */
const withoutData: Maker = async () => {}

/** Who makes the data of each feature, by its id. A feature that is missing here cannot be rehearsed, and fails the rehearsal. */
export const makers: Readonly<Record<string, Maker>> = {
  organisations,
  workspaces,
  'api-keys': apiKeys,
  'user-api-key-limits': setting({ max_user_api_keys: 1000 }),
  'api-key-expiry': withoutData,
  users,
  'email-templates': withoutData,
  'configs-security': setting({ membersWriteConfigs: true }),
  'analytics-access': setting({ membersViewAnalytics: false }),
  'prompt-access': setting({ membersWritePrompts: true }),
  'data-visibility': setting({ membersViewAllData: false }),
  integrations,
  providers,
  'virtual-keys': virtualKeys,
  collections,
  labels,
  prompts,
  configs,
  logs,
  audit: withoutData,
}
