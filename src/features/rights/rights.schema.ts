import { z } from 'zod'
import { deciders } from '../../lib/access/decisions.ts'
import { roles } from '../../lib/access/permission-matrix.ts'
import { organisationRoles } from '../../lib/access/roles.ts'
import { keyTypes } from '../api-keys/index.ts'

export const workspaceQuery = z.object({
  workspace: z.string().min(1).max(255).optional().meta({ description: 'Id or slug of a workspace.' }),
})

export const rightsQuery = workspaceQuery.extend({
  scope: z.string().min(1).max(255).optional().meta({ description: 'Only this scope.' }),
})

export const keyRightsQuery = rightsQuery.pick({ scope: true })

export const scopesQuery = z.object({
  group: z.string().min(1).max(255).optional().meta({ description: 'Only the scopes on this resource, such as `prompts`.' }),
})

export const settingsQuery = workspaceQuery.extend({
  name: z.string().min(1).max(255).optional().meta({ description: 'Only this setting.' }),
})

const role = z.enum(roles)

const decision = z.object({
  scope: z.string(),
  allowed: z.boolean(),
  decided_by: z.enum(deciders).meta({
    description:
      '`setting`: of the organisation, or its default; `override`: of the workspace; `key`: the key has it or not, or has ended.',
  }),
  settings: z
    .array(
      z.object({
        name: z.string(),
        value: z.boolean(),
        source: z.enum(['default', 'organisation', 'workspace']),
      }),
    )
    .meta({ description: 'The settings that decide. If several are off, one of them would be enough.' }),
  reason: z.string().meta({ description: 'The same in words.' }),
})

const place = z
  .object({ id: z.uuid(), slug: z.string(), name: z.string() })
  .nullable()
  .meta({ description: 'Null: in the organisation as a whole.' })

const common = {
  object: z.literal('rights'),
  workspace: place,
  role: role.nullable().meta({ description: 'The role that counts there. Owners and admins of the organisation have theirs everywhere.' }),
  sees_own_data_only: z.boolean().meta({ description: 'Only the logs and analytics of their own API keys are shown.' }),
  data: z.array(decision),
}

export const userRights = z
  .object({ ...common, user: z.object({ id: z.uuid(), email: z.string(), role: z.enum(organisationRoles) }) })
  .meta({ id: 'UserRights', description: 'The rights of a person when they are signed in: each scope, and its reason.' })

export const keyRights = z
  .object({
    ...common,
    key: z.object({ id: z.uuid(), name: z.string(), type: z.enum(keyTypes), status: z.string(), user_id: z.uuid().nullable() }),
    role: role.nullable().meta({ description: 'The role of the holder of a user key; null for a service key.' }),
  })
  .meta({ id: 'KeyRights', description: 'What an API key may do: each scope, and what decides.' })

const grant = z.union([z.boolean(), z.array(z.string())])

export const scopeCatalogue = z
  .object({
    object: z.literal('scope_catalogue'),
    groups: z.array(
      z.object({
        id: z.string().meta({ description: 'The resource, the first half of the scopes.' }),
        title: z.string(),
        scopes: z.array(
          z.object({
            scope: z.string(),
            kind: z.enum(['view', 'write', 'use']).meta({ description: '`use`: calling models, and the scopes that calls need.' }),
            since: z.string().nullable().meta({ description: 'The release that brought it; null: it was always there.' }),
            key_types: z.array(z.enum(keyTypes)).meta({ description: 'The types of keys that can have it.' }),
            roles: z.object(Object.fromEntries(roles.map((name) => [name, grant]))).meta({
              description: 'Whether a role gives it to a person who signed in: always, never, or while one of these settings is on.',
            }),
          }),
        ),
      }),
    ),
    presets: z
      .array(
        z.object({
          id: z.string(),
          title: z.string(),
          description: z.string(),
          scopes: z.array(z.object({ key_type: z.enum(keyTypes), scopes: z.array(z.string()) })),
        }),
      )
      .meta({ description: 'Scopes that are often given together, for each type of key that can have some of them.' }),
  })
  .meta({ id: 'ScopeCatalogue', description: 'Every scope of this level.' })

export const settingCatalogue = z
  .object({
    object: z.literal('setting_catalogue'),
    workspace: place,
    data: z.array(
      z.object({
        name: z.string().meta({ description: 'Its path in `settings` of the organisation.' }),
        category: z.string().nullable().meta({ description: 'The category under which a workspace overrides it; null: none may.' }),
        effect: z.string(),
        default: z.unknown().meta({ description: 'The default value; null: no rule.' }),
        since: z.string().nullable().meta({ description: 'The release that brought it; null: it was always there.' }),
        value: z.unknown().meta({ description: 'The value that counts.' }),
        source: z.enum(['default', 'organisation', 'workspace']),
        overrides: z
          .array(z.object({ workspace_id: z.uuid(), slug: z.string(), name: z.string(), value: z.unknown() }))
          .meta({ description: 'The workspaces with a value of their own.' }),
        binds: z.enum(['members', 'managers', 'organisation-admins', 'everybody']),
        people_bound: z.int().meta({ description: 'How many people that are.' }),
      }),
    ),
    environment: z
      .array(
        z.object({
          name: z.string().meta({ description: 'The variable, such as `SESSION_LIFETIME`.' }),
          effect: z.string(),
          default: z.string().nullable().meta({ description: 'Null: none.' }),
          since: z.string(),
          value: z.string().nullable().meta({ description: 'The value that counts, as it is written in the environment.' }),
          source: z.enum(['default', 'environment']),
        }),
      )
      .meta({
        description:
          'The settings of the installation that bind people of every organisation. The operator sets them; the API cannot. Hosts, paths and credentials are not among them.',
      }),
  })
  .meta({ id: 'SettingCatalogue', description: 'The settings of the organisation, their values, and whom they bind.' })
