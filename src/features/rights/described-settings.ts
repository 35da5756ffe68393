import type { z } from 'zod'
import { accessSettings } from '../../lib/access/access-settings.ts'
import { enforcedMetadataFields } from '../../lib/access/enforced-metadata.ts'
import { groupBasedProvisioningField } from '../../lib/access/provisioning-settings.ts'
import { maxSessionTtlField } from '../../lib/access/session-settings.ts'
import { userKeyCategory, userKeyFields } from '../../lib/access/user-key-settings.ts'
import { markOf } from '../../release/since.ts'

/** The people whom a setting binds. */
export type Bound = 'members' | 'managers' | 'organisation-admins' | 'everybody'

/** A setting of an organisation, described for people. */
export interface DescribedSetting {
  /** Its path in the stored settings of the organisation, with dots. */
  readonly name: string
  readonly category: string | null
  readonly effect: string
  /** Null: no rule. */
  readonly otherwise: boolean | null
  readonly since: string | null
  readonly binds: Bound
}

interface AccessRow {
  readonly category: string
  readonly otherwise: boolean
  readonly since?: string
  readonly description: string
}

const ofAccess = ([name, row]: readonly [string, AccessRow]): DescribedSetting => ({
  name,
  category: row.category,
  effect: row.description,
  otherwise: row.otherwise,
  since: row.since ?? null,
  binds: boundBy(name),
})

/** The name of a setting begins with those whom it is for. */
function boundBy(name: string): Bound {
  if (name.startsWith('members')) return 'members'
  if (name.startsWith('managers')) return 'managers'
  return name.startsWith('organisationAdmins') ? 'organisation-admins' : 'everybody'
}

const rules =
  (category: string | null) =>
  ([name, schema]: readonly [string, z.ZodType]): DescribedSetting => ({
    name,
    category,
    effect: schema.meta()?.description ?? '',
    otherwise: null,
    since: markOf(schema)?.since ?? null,
    binds: 'everybody',
  })

/** The settings of an organisation that decide the rights of people, and how they act. */
export const describedSettings: readonly DescribedSetting[] = [
  ...Object.entries(accessSettings).map(ofAccess),
  ...Object.entries(userKeyFields).map(rules(userKeyCategory)),
  ...Object.entries({
    ...enforcedMetadataFields,
    group_based_user_provisioning: groupBasedProvisioningField,
    'session_settings.max_session_ttl': maxSessionTtlField,
  }).map(rules(null)),
]
