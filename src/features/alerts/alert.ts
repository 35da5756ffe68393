import type { EntityManager } from '@mikro-orm/postgresql'

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
const ofWorkspace = `SELECT u.email FROM workspace_members m JOIN users u ON u.id = m.user_id
  WHERE m.organisation_id = ? AND m.workspace_id = ? AND m.role IN ('admin', 'manager') AND u.status = 'active'`

export interface AlertRecipients {
  readonly owner: Owner
  /** True if admins and managers of the workspace are recipients too. */
  readonly asWorkspace: boolean
}

/**
 * Returns the recipients: owners and admins of the organisation, the addresses that the key names, and, with `asWorkspace`, admins and managers of
 * the workspace; each once.
 */
export async function recipientsOf(em: EntityManager, alert: Alert, { owner, asWorkspace }: AlertRecipients): Promise<readonly string[]> {
  const admins = await em.execute<{ email: string }[]>(administrators, [alert.organisation_id])
  const members =
    asWorkspace && owner.workspace_id !== null
      ? await em.execute<{ email: string }[]>(ofWorkspace, [alert.organisation_id, owner.workspace_id])
      : []
  const emails = [...admins, ...members].map(({ email }) => email).concat(owner.alert_emails)
  const lower = emails.map((email) => email.toLowerCase())
  return emails.filter((_, at) => lower.indexOf(lower[at] ?? '') === at)
}
