import { budgetLabels } from '../../parts/form/budget-field.tsx'

/** The labels of the fields of a key, by the paths of the API. */
export const labels = {
  name: 'Name',
  description: 'Description',
  user_id: 'Person',
  scopes: 'Scopes',
  ...budgetLabels,
  rate_limits: 'Rates',
  expires_at: 'Expires',
  alert_emails: 'Alerts to',
  'defaults.config_id': 'Default config',
  'defaults.allow_config_override': 'Other configs',
  'defaults.metadata': 'Metadata',
  'rotation_policy.rotation_period': 'Rotation due',
  'rotation_policy.key_transition_period_ms': 'A rotated key serves for',
} as const

/** The names of the values of the form. */
export const valueNames = {
  name: 'Name',
  description: 'Description',
  scopes: 'Scopes',
  budget: 'Budget',
  rates: 'Rates',
  expiry: 'Expires',
  emails: 'Alerts to',
  config: 'Default config',
  override: 'Other configs',
  metadata: 'Metadata',
  period: 'Rotation due',
  transition: 'A rotated key serves for',
} as const

export const texts = {
  once: 'It is shown this once and stored nowhere. Keep it where your application reads it.',
  stopped: 'Stopped. Every process follows within a second.',
  saved: 'Saved. Every process follows within a second.',
  empty: ['No keys yet.', 'A key lets an application call models through Gatehouse.'],
  nothing: ['Nothing matches.', 'No key has this in its name.'],
  lacksCreate: 'To create a key you need a right that you do not have here. Ask an admin.',
  lacks: (right: string, place: string) => `Needs ${right}. Ask an admin of ${place}.`,
} as const
