import { z } from 'zod'
import { lowest } from '../../release/level.ts'
import { since as broughtBy } from '../../release/since.ts'
import { userKeyCategory, userKeyFields } from './user-key-settings.ts'

interface Row {
  readonly category: string
  /** The release that brings it; absent for settings that were there from the start. */
  readonly since?: string
  /** The value when neither the organisation nor the workspace sets one. */
  readonly otherwise: boolean
  readonly description: string
}

/** The settings by which an organisation grants rights to members, managers and admins. A workspace may override each category. */
export const accessSettings = {
  membersViewAllData: data(true, 'Off: members see the logs and analytics of their own API keys only.'),
  managersViewAllData: data(true, 'Off: managers see the logs and analytics of their own API keys only.'),
  membersViewLogs: { category: 'log_access', otherwise: true, description: 'Members may view logs.' },
  managersViewLogs: { category: 'log_access', otherwise: true, description: 'Managers may view and export logs.' },
  organisationAdminsViewLogs: {
    category: 'log_access',
    otherwise: true,
    description: "The organisation's admins may view logs with their bodies and headers, and export them.",
  },
  organisationAdminsViewLogMetadata: {
    category: 'log_access',
    otherwise: true,
    description: "The organisation's admins may list logs, without bodies and headers, also while they may not view them.",
  },
  membersViewAnalytics: { category: 'analytics_access', since: '1.9.0', otherwise: true, description: 'Members may view analytics.' },
  managersViewAnalytics: { category: 'analytics_access', since: '1.9.0', otherwise: true, description: 'Managers may view analytics.' },
  membersViewPrompts: { category: 'prompt_access', since: '1.10.0', otherwise: true, description: 'Members may view prompts.' },
  membersWritePrompts: { category: 'prompt_access', since: '1.10.0', otherwise: false, description: 'Members may edit prompts.' },
  managersViewPrompts: { category: 'prompt_access', since: '1.10.0', otherwise: true, description: 'Managers may view prompts.' },
  managersWritePrompts: { category: 'prompt_access', since: '1.10.0', otherwise: true, description: 'Managers may edit prompts.' },
  membersViewConfigs: { category: 'config_access', otherwise: true, description: 'Members may view configs.' },
  membersWriteConfigs: { category: 'config_access', otherwise: false, description: 'Members may edit configs.' },
  managersViewConfigs: { category: 'config_access', otherwise: true, description: 'Managers may view configs.' },
  managersWriteConfigs: { category: 'config_access', otherwise: true, description: 'Managers may edit configs.' },
  membersViewGuardrails: { category: 'guardrail_access', otherwise: true, description: 'Members may view guardrails.' },
  managersViewGuardrails: { category: 'guardrail_access', otherwise: true, description: 'Managers may view guardrails.' },
  managersWriteGuardrails: { category: 'guardrail_access', otherwise: true, description: 'Managers may edit guardrails.' },
  membersViewApiKeys: { category: 'api_key_access', otherwise: true, description: 'Members may view their own API keys.' },
  membersManageApiKeys: {
    category: 'api_key_access',
    otherwise: false,
    description: 'Members may make, change, rotate and delete their own API keys.',
  },
  managersViewApiKeys: { category: 'api_key_access', otherwise: true, description: 'Managers may view the API keys of the workspace.' },
  managersManageApiKeys: {
    category: 'api_key_access',
    otherwise: true,
    description: 'Managers may make, change, rotate and delete the API keys of the workspace.',
  },
  managersWriteWsIntegrations: {
    category: 'integration_access',
    otherwise: true,
    description: "Managers may edit the workspace's integrations.",
  },
  managersWriteWsMcpIntegrations: {
    category: 'integration_access',
    otherwise: true,
    description: "Managers may edit the workspace's MCP integrations.",
  },
  managersWriteMcpServers: { category: 'integration_access', otherwise: true, description: 'Managers may edit MCP servers.' },
  block_inline_config: {
    category: 'data_plane_security_settings',
    otherwise: false,
    description: 'Requests may name stored configs only, and bring none of their own.',
  },
} as const satisfies Readonly<Record<string, Row>>

function data(otherwise: true, description: string) {
  return { category: 'data_visibility', since: '1.11.0', otherwise, description } as const
}

export type AccessSetting = keyof typeof accessSettings
export type AccessCategory = (typeof accessSettings)[AccessSetting]['category']

/** Every setting with the value that counts. */
export type AccessSettings = Readonly<Record<AccessSetting, boolean>>

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are exactly its type's keys
const names = Object.keys(accessSettings) as readonly AccessSetting[]

const categories: readonly AccessCategory[] = [...new Set(names.map((name) => accessSettings[name].category))]

const toggles = (wanted: (name: AccessSetting) => boolean) =>
  Object.fromEntries(
    names.filter(wanted).map((name) => {
      const { description, otherwise, since }: Row = accessSettings[name]
      const toggle = z
        .boolean()
        .nullable()
        .optional()
        .meta({ description: `${description} ${otherwise ? 'On' : 'Off'} unless set.` })
      return [name, since === undefined ? toggle : broughtBy(since, toggle)]
    }),
  )

/** A category comes with the first of its settings. */
function whole<T extends z.ZodType>(category: AccessCategory, schema: T): T {
  const rows: readonly Row[] = names.map((name) => accessSettings[name]).filter((row) => row.category === category)
  const first = rows.map(({ since = null }) => since).reduce((one, other) => (one === null || other === null ? null : lowest(one, other)))
  return first === null ? schema : broughtBy(first, schema)
}

/** The settings as fields of an organisation's; null: the default. */
export const accessSettingFields: Readonly<Record<string, z.ZodOptional<z.ZodNullable<z.ZodBoolean>>>> = toggles(() => true)

/** The overrides that a workspace sends, by category. Null removes the override. */
export const accessOverrides = z
  .strictObject({
    ...Object.fromEntries(
      categories.map((category) => [
        category,
        whole(
          category,
          z
            .strictObject(toggles((name) => accessSettings[name].category === category))
            .nullable()
            .optional(),
        ),
      ]),
    ),
    [userKeyCategory]: z.strictObject(userKeyFields).nullable().optional(),
  })
  .meta({ id: 'AccessOverrides', description: 'The settings in which this workspace differs from its organisation, by category.' })

/** The overrides of a workspace, as the API answers them. */
export const accessOverridesView = z
  .looseObject(
    Object.fromEntries(
      categories.map((category): [string, z.ZodType] => [
        category,
        whole(category, z.looseObject(toggles((name) => accessSettings[name].category === category)).optional()),
      ]),
    ),
  )
  .meta({ description: "What differs from the organisation's settings." })

/** A setting with its effective value and the source of the value. */
export interface SettingState {
  readonly name: AccessSetting
  readonly value: boolean
  /** `default`: neither the organisation nor the workspace sets it. */
  readonly source: 'default' | 'organisation' | 'workspace'
}

/** Returns the state of a setting, from the stored values of an organisation and a workspace. */
export function settingState(name: AccessSetting, organisation: unknown, overrides: unknown): SettingState {
  const { category, otherwise } = accessSettings[name]
  const [there, above] = [field(field(overrides, category), name), field(organisation, name)]
  if (typeof there === 'boolean') return { name, value: there, source: 'workspace' }
  if (typeof above === 'boolean') return { name, value: above, source: 'organisation' }
  return { name, value: otherwise, source: 'default' }
}

/** The effective settings, from the stored values of an organisation and a workspace. */
export const effectiveSettings = (organisation: unknown, overrides: unknown): AccessSettings =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for every name
  Object.fromEntries(names.map((name) => [name, settingState(name, organisation, overrides).value])) as AccessSettings

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
