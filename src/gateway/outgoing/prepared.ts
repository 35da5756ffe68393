import type { EgressOrigin, EgressRequest } from '../egress/egress.ts'

/** A request that is ready to go: checked host, signed, in the provider's words. */
export interface PreparedRequest {
  readonly origin: EgressOrigin
  readonly request: EgressRequest
  /** For the log: the URL without query, which may hold a key. */
  readonly url: string
}
