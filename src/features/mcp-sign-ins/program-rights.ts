import { invokeScope } from '../../gateway/ports/mcp.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { enforcedMetadata, missingMetadata } from '../../lib/access/enforced-metadata.ts'
import { type Role, scopesOfRole } from '../../lib/access/roles.ts'
import { userKeySettings } from '../../lib/access/user-key-settings.ts'
import { keyScope } from '../api-keys/index.ts'
import { signInMs } from './sign-ins.ts'

/** A person in a workspace, with the stored values that decide on the keys that they may make. */
export interface PersonPlace {
  readonly role: Role | null
  readonly organisationSettings: unknown
  readonly accessOverrides: unknown
  readonly workspaceMetadata: unknown
}

const makesKeys = keyScope('workspace-user', 'create')

/**
 * Returns the scopes of a program that a person lets in: none for a person who could not make a key for themselves now. A sign-in would otherwise pass
 * the limits of the keys that others make for this person, and the metadata that the organisation demands of keys.
 */
export function programScopes({ role, organisationSettings, accessOverrides, workspaceMetadata }: PersonPlace): ReadonlySet<string> {
  const held = scopesOfRole([makesKeys, invokeScope], role, effectiveSettings(organisationSettings, accessOverrides))
  const { max_user_api_keys: mostKeys } = userKeySettings(organisationSettings, accessOverrides)
  const missing = missingMetadata(enforcedMetadata(organisationSettings).api_key_metadata_keys, workspaceMetadata)
  return new Set(held.has(makesKeys) && held.has(invokeScope) && mostKeys !== 0 && missing === null ? [invokeScope] : [])
}

const dayMs = 24 * 60 * 60 * 1000

/** Returns how long a sign-in lasts: no longer than a key of the person may live. */
export function signInLife({ organisationSettings, accessOverrides }: Omit<PersonPlace, 'role' | 'workspaceMetadata'>): number {
  const { user_api_key_max_ttl: days } = userKeySettings(organisationSettings, accessOverrides)
  return days === null ? signInMs : Math.min(signInMs, days * dayMs)
}
