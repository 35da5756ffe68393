import type { Place } from '../secrets/vault.ts'

interface Owned {
  readonly id: string
  readonly organisationId: string
}

/** Where the checks of a guardrail are sealed. */
export const guardrailPlace = ({ id, organisationId }: Owned): Place => ({
  organisationId,
  table: 'guardrails',
  column: 'checks',
  rowId: id,
})

/** Where the credentials of a partner are sealed. */
export const pluginPlace = ({ id, organisationId }: Owned): Place => ({
  organisationId,
  table: 'plugins',
  column: 'credentials',
  rowId: id,
})

/** Where a config's text is sealed, for who writes it and for the snapshot, which reads it. */
export const configPlace = ({ id, organisationId }: Owned): Place => ({
  organisationId,
  table: 'config_versions',
  column: 'config',
  rowId: id,
})
