import type { EntityManager } from '@mikro-orm/postgresql'
import type { Mail } from '../../app/mail/outbox.ts'
import type { TemplateName } from '../../app/mail/templates.ts'
import { groupsOf } from '../../gateway/ports/limits.ts'
import type { Alert, AlertKind, AlertOwner, Owner } from './alert.ts'

const words: Readonly<Record<AlertOwner, string>> = {
  'api-key': 'API key',
  provider: 'provider',
  workspace: 'workspace',
  'integration-workspace': 'integration',
  policy: 'usage policy',
}

const nameOfKind = {
  threshold: 'usage-threshold-alert',
  exhausted: 'usage-exhausted-alert',
  expired: 'expired-alert',
} as const satisfies Record<AlertKind, string>
const nameOfOwner = {
  'api-key': 'apikey',
  provider: 'virtualkey',
  workspace: 'entity',
  'integration-workspace': 'entity',
  policy: 'entity',
} as const satisfies Record<AlertOwner, string>

const templateOf = ({ owner_kind, kind }: Alert): TemplateName => `${nameOfOwner[owner_kind]}-${nameOfKind[kind]}`

/** Returns the mail of an alert, but for its recipient. */
export async function mailOf(em: EntityManager, alert: Alert, owner: Owner): Promise<Omit<Mail, 'recipient'>> {
  const [place] = await em.execute<{ organisation_name: string; workspace_name: string | null }[]>(
    'SELECT o.name AS organisation_name, w.name AS workspace_name FROM organisations o LEFT JOIN workspaces w ON w.id = ? WHERE o.id = ?',
    [owner.workspace_id, alert.organisation_id],
  )
  return {
    organisationId: alert.organisation_id,
    template: templateOf(alert),
    variables: {
      organisation_name: place?.organisation_name ?? '',
      workspace_name: place?.workspace_name ?? '',
      entity_type: owner.kind === 'virtual-key' ? 'virtual key' : words[alert.owner_kind],
      entity_name: owner.name,
      group: groupsNamed(alert.value_key ?? ''),
      current_usage: amount(alert, alert.used),
      limit: amount(alert, alert.bound),
      resets_at: moment(alert.resets_at),
    },
  }
}

const groupsNamed = (valueKey: string): string =>
  groupsOf(valueKey)
    .map(([key, value]) => (key === '' ? value : `${key}:${value}`))
    .join(', ')

/** Writes an amount as people read it; amounts in dollars keep every digit that is not 0. */
function amount({ counts }: Alert, value: string | null): string {
  if (value === null) return ''
  const [whole = '0', behind = ''] = value.split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  const digits = behind.replace(/0+$/, '')
  return counts === 'cost' ? `$${grouped}.${digits.padEnd(2, '0')}` : `${grouped}${digits === '' ? '' : `.${digits}`} ${counts ?? ''}`
}

const moment = (at: Date | string | null): string =>
  at === null ? '' : new Date(at).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC')
