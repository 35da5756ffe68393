import type { EntityManager } from '@mikro-orm/postgresql'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { seesKeysOfOthers, seesOwnFiguresOnly } from '../../lib/access/roles.ts'

/** The event of an alert. */
export type AlertKind = 'threshold' | 'exhausted' | 'expired'
export type AlertOwner = 'api-key' | 'provider' | 'workspace' | 'integration-workspace' | 'policy'

/** An alert as its row has it. */
export interface Alert {
  readonly id: string
  readonly organisation_id: string
  readonly kind: AlertKind
  readonly owner_kind: AlertOwner
  readonly owner_id: string
  /** The values of a policy that groups; null elsewhere. */
  readonly value_key: string | null
  /** Null for an expired key or provider, as the next four. */
  readonly counts: 'cost' | 'tokens' | 'requests' | null
  readonly used: string | null
  readonly bound: string | null
  readonly resets_at: Date | string | null
}

/** The thing whose budget it is, or that expired. */
export interface Owner {
  readonly name: string
  /** The kind of a provider; absent of all else. */
  readonly kind?: 'provider' | 'virtual-key'
  /** Null: it belongs to the organisation as a whole. */
  readonly workspace_id: string | null
  readonly alert_emails: readonly string[]
}

const noEmails = `'{}'::text[] AS alert_emails`

/** The rows that alerts are about. That of a policy is only asked for by alerts of policies, which come with their table. */
const owners: Readonly<Record<AlertOwner, string>> = {
  'api-key': 'SELECT name, workspace_id, alert_emails FROM api_keys WHERE id = ?',
  provider: `SELECT name, kind, workspace_id, ${noEmails} FROM providers WHERE id = ?`,
  workspace: `SELECT name, id AS workspace_id, ${noEmails} FROM workspaces WHERE id = ?`,
  'integration-workspace': `SELECT i.name, w.workspace_id, ${noEmails} FROM integration_workspaces w JOIN integrations i ON i.id = w.integration_id WHERE w.id = ?`,
  policy: `SELECT coalesce(name, 'Policy') AS name, workspace_id, ${noEmails} FROM usage_limit_policies WHERE id = ?`,
}

/** Returns whose budget an alert is about; null: it is gone. */
export async function ownerOf(em: EntityManager, { owner_kind, owner_id }: Alert): Promise<Owner | null> {
  const [owner] = await em.execute<Owner[]>(owners[owner_kind], [owner_id])
  return owner ?? null
}

const administrators = `SELECT email FROM users WHERE organisation_id = ? AND status = 'active' AND role IN ('owner', 'admin')`
const ofWorkspace = `SELECT u.email, m.role, o.settings, w.access_overrides FROM workspace_members m JOIN users u ON u.id = m.user_id
  JOIN workspaces w ON w.id = m.workspace_id JOIN organisations o ON o.id = m.organisation_id
  WHERE m.organisation_id = ? AND m.workspace_id = ? AND m.role IN ('admin', 'manager') AND u.status = 'active'`

interface WorkspaceRecipient {
  readonly email: string
  readonly role: 'admin' | 'manager'
  readonly settings: unknown
  readonly access_overrides: unknown
}

/** Alerts of keys, and of groups of a policy, tell what one person spent. */
const isOfPerson = ({ owner_kind, value_key }: Alert): boolean => owner_kind === 'api-key' || (value_key ?? '') !== ''

function maySee(alert: Alert, { role, settings, access_overrides: overrides }: WorkspaceRecipient): boolean {
  if (!isOfPerson(alert)) return true
  const effective = effectiveSettings(settings, overrides)
  return seesKeysOfOthers(role, effective) && !seesOwnFiguresOnly(role, effective)
}

export interface AlertRecipients {
  readonly owner: Owner
  /** True if admins and managers of the workspace are recipients too. */
  readonly asWorkspace: boolean
}

/**
 * Returns the recipients: owners and admins of the organisation, the addresses that the key names, and, with `asWorkspace`, admins and managers of
 * the workspace, as far as they may see whose use it is; each once.
 */
export async function recipientsOf(em: EntityManager, alert: Alert, { owner, asWorkspace }: AlertRecipients): Promise<readonly string[]> {
  const admins = await em.execute<{ email: string }[]>(administrators, [alert.organisation_id])
  const members =
    asWorkspace && owner.workspace_id !== null
      ? await em.execute<WorkspaceRecipient[]>(ofWorkspace, [alert.organisation_id, owner.workspace_id])
      : []
  const seeing = members.filter((member) => maySee(alert, member))
  const emails = [...admins, ...seeing].map(({ email }) => email).concat(owner.alert_emails)
  const lower = emails.map((email) => email.toLowerCase())
  return emails.filter((_, at) => lower.indexOf(lower[at] ?? '') === at)
}
