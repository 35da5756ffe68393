import type { Alert, AlertKind, AlertOwner, Owner } from './alert.ts'

/** The events that webhooks receive, by the kind of alert. */
export const eventTypes = {
  threshold: 'usage.threshold_reached',
  exhausted: 'usage.exhausted',
  expired: 'credential.expired',
} as const satisfies Record<AlertKind, string>

/** The events about definitions of MCP servers: those that wait for an approval, and those that are used all the same. */
const mcpEvents = ['mcp.capability_held', 'mcp.capability_changed'] as const
export type McpEventType = (typeof mcpEvents)[number]

export type EventType = (typeof eventTypes)[AlertKind] | McpEventType
export const eventNames: readonly EventType[] = [...Object.values(eventTypes), ...mcpEvents]

const objects: Readonly<Record<AlertOwner, string>> = {
  'api-key': 'api_key',
  provider: 'provider',
  workspace: 'workspace',
  'integration-workspace': 'integration_workspace',
  policy: 'usage_limits_policy',
}

/** Writes an alert as the body of a delivery. Amounts are decimal texts, dollars for costs. */
export function eventOf(alert: Alert, owner: Owner, now: number): string {
  const { organisation_id, kind, owner_kind, owner_id, value_key, counts, used, bound, resets_at } = alert
  return JSON.stringify({
    type: eventTypes[kind],
    timestamp: new Date(now).toISOString(),
    data: {
      alert_id: alert.id,
      organisation_id,
      workspace_id: owner.workspace_id,
      object: objects[owner_kind],
      object_id: owner_id,
      object_name: owner.name,
      group: value_key === null || value_key === '' ? null : value_key,
      usage:
        counts === null
          ? null
          : { type: counts, current: used, limit: bound, resets_at: resets_at === null ? null : new Date(resets_at).toISOString() },
    },
  })
}

/** Writes the event for a test of a webhook. */
export const testEvent = (organisationId: string, now: number): string =>
  JSON.stringify({ type: 'test', timestamp: new Date(now).toISOString(), data: { organisation_id: organisationId } })
