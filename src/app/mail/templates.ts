import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { findProjectPath } from '../database/project-path.ts'
import { namesIn } from './template.ts'

/** The variables that every template may use, from the settings. */
const common = ['company_name', 'logo_url', 'support_email', 'docs_url'] as const

const ofAlerts = [
  'organisation_name',
  'workspace_name',
  'entity_type',
  'entity_name',
  'group',
  'current_usage',
  'limit',
  'resets_at',
] as const

/** The mails that are sent, each with its variables. */
export const templates = {
  'user-invite': ['organisation_name', 'role', 'workspaces', 'invite_link', 'expires_at'],
  'address-changed': ['organisation_name', 'former_address', 'new_address', 'client_name', 'changed_at'],
  'password-reset': ['organisation_name', 'reset_link', 'expires_at'],
  'apikey-usage-threshold-alert': ofAlerts,
  'apikey-usage-exhausted-alert': ofAlerts,
  'apikey-expired-alert': ofAlerts,
  'virtualkey-usage-threshold-alert': ofAlerts,
  'virtualkey-usage-exhausted-alert': ofAlerts,
  'virtualkey-expired-alert': ofAlerts,
  'entity-usage-threshold-alert': ofAlerts,
  'entity-usage-exhausted-alert': ofAlerts,
  'entity-expired-alert': ofAlerts,
} as const satisfies Readonly<Record<string, readonly string[]>>

export type TemplateName = keyof typeof templates

const maxBytes = 1024 * 1024

/** The text of a template: the operator's own when there is one, else ours. Lists the names in it that no variable fills. */
export function readTemplate(name: TemplateName, folder: string | null, log: Logger): string {
  const own = folder === null ? null : join(folder, `${name}.html`)
  if (own !== null && existsSync(own)) {
    if (statSync(own).size > maxBytes) throw new Error(`the mail template ${own} is larger than ${maxBytes} bytes`)
    const text = readFileSync(own, 'utf8')
    const unknown = [...namesIn(text)].filter((used) => ![...common, ...templates[name]].some((known) => known === used))
    if (unknown.length > 0) log.warn({ template: own, unknown }, 'a mail template uses names that no variable fills')
    return text
  }
  const ours = findProjectPath(join('assets', 'emails', `${name}.html`))
  if (ours === null) throw new Error(`the installation is not complete: assets/emails/${name}.html is missing`)
  return readFileSync(ours, 'utf8')
}
