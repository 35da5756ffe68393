import type { Workspace } from './workspace.entity.ts'

/** A workspace as it is answered. */
export const presentWorkspace = (row: Workspace) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description ?? null,
  icon: row.icon ?? null,
  status: row.status,
  is_default: Number(row.isDefault),
  // The reference documents these two inside `defaults`, its clients read them outside: they are in both.
  defaults: { ...row.defaults, is_default: Number(row.isDefault), object: 'workspace' },
  usage_limits: [...row.usageLimits],
  rate_limits: [...row.rateLimits],
  log_retention_days: row.logRetentionDays ?? null,
  access_overrides: { ...row.accessOverrides },
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'workspace' as const,
})
