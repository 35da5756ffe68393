import type { Answer } from '../../api/client.ts'
import type { Scope } from '../../shell/scope.ts'

export type Integration = Answer<'GET /integrations/{slug}'>

export interface AccountProps {
  readonly account: Integration
  readonly scope: Scope
}

/** Returns a right on an account: one of the organisation, or of the workspace that it belongs to. */
export const rightOn = ({ type }: Pick<Integration, 'type'>, verb: string): string => `${type}_integrations.${verb}`

/** Returns the last characters of a masked key; empty for a short one. */
export const endOf = (masked: string | null): string => masked?.replaceAll(/[*•.…]/g, '').slice(-4) ?? ''

/** Returns what may be said of a stored key. */
export const storedWords = (masked: string | null): string =>
  masked === null ? 'none stored' : endOf(masked) === '' ? 'stored' : `stored, ends in ${endOf(masked)}`
