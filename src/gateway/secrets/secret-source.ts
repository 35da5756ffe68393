import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Egress } from '../egress/egress.ts'
import type { SecretReference } from './secret-reference.ts'

/** The port to the secrets of external managers. */
export interface SecretSource {
  /**
   * Returns the text of a secret: at once while it is held. Rejects with `secret_unavailable`, or `blocked_host` from the guard. `egress` has the
   * hosts that the organisation may reach.
   */
  read(reference: SecretReference, egress: Egress): MaybePromise<string>
  /** Asks the manager again, since a provider refused the secret's value; not more often than every few seconds. Never rejects. */
  renew(reference: SecretReference, egress: Egress): Promise<void>
}
