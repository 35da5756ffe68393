import { z } from 'zod'
import { organisationRoles, workspaceRoles } from '../../lib/access/roles.ts'
import { factorsView } from './factors/factor.schema.ts'
import { scopeReleases } from '../../lib/access/scopes.ts'
import { valuesSince } from '../../release/since.ts'

const scopes = z.array(valuesSince(scopeReleases, z.string()))

export const meView = z
  .object({
    user: z.object({
      id: z.uuid(),
      email: z.string(),
      first_name: z.string().nullable(),
      last_name: z.string().nullable(),
      role: z.enum(organisationRoles),
      has_password: z.boolean(),
      second_factors: factorsView.extend({
        required: z.boolean().meta({ description: 'True if the person must set one up before they do anything else.' }),
      }),
    }),
    organisation: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }),
    scopes: scopes.meta({
      description: 'Your rights without a workspace; empty unless you are an owner or an admin of the organisation.',
    }),
    settings: z.record(z.string(), z.boolean()).meta({ description: 'The access settings of the organisation that count.' }),
    default_workspace: z
      .uuid()
      .nullable()
      .meta({ description: 'Where you act unless `x-service-workspace` names another workspace; null: nowhere.' }),
    workspaces: z
      .array(
        z.object({
          id: z.uuid(),
          slug: z.string(),
          name: z.string(),
          role: z
            .enum(['owner', 'organisation-admin', ...workspaceRoles])
            .meta({ description: 'Owners and admins of the organisation act as admins in every workspace.' }),
          scopes,
          settings: z.record(z.string(), z.boolean()).meta({ description: 'The access settings of the workspace that count.' }),
        }),
      )
      .meta({ description: 'The workspaces in which you may act; at most 1000.' }),
    session: z.object({
      id: z.uuid(),
      expires_at: z.iso.datetime(),
      idle_timeout_seconds: z.number().meta({ description: 'The time without a request after which it ends earlier.' }),
    }),
    csrf_token: z.string().meta({ description: 'For the header `x-csrf-token` of requests that change something.' }),
    installation: z.object({
      version: z.string(),
      level: z.string(),
      features: z.array(z.string()).meta({ description: 'The features that are on.' }),
      public_url: z.string(),
      header_prefix: z.string().meta({ description: 'With which the names of our headers begin.' }),
      log_retention_days: z.number(),
      metrics_retention_days: z.number(),
    }),
  })
  .meta({ id: 'Me', description: 'The signed-in person, their rights, and the features of this installation.' })
