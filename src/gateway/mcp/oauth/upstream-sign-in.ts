import type { UpstreamSignIn } from '../upstream/upstream-request.ts'
import { redactionOfHeaders } from '../../ending/redact.ts'
import type { GrantOwner, McpGrantView, McpTokens } from './grants.ts'

export interface SignInParts {
  readonly tokens: McpTokens
  readonly owner: GrantOwner
  /** The tokens that are known. */
  readonly grant: McpGrantView | null
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Called with the fault of a renewal that no call waits for. */
  readonly report: (error: unknown) => void
}

/** A token that ends so soon is not used any more: it could end on its way. */
const spentMs = 5000
/** A token is renewed so long before its end, or when a fifth of its life is left. */
const aheadMs = 60_000

/** Returns the sign-in of a holder of tokens at one server. */
export function createSignIn({ tokens, owner, grant: known, now, report }: SignInParts): UpstreamSignIn {
  let grant = known
  const given = new Set<string>()

  const leftMs = ({ expiresAt }: McpGrantView): number => (expiresAt === null ? Infinity : expiresAt - now())
  const isAging = (one: McpGrantView): boolean =>
    one.expiresAt !== null && leftMs(one) < Math.min(aheadMs, (one.expiresAt - one.givenAt) / 5)

  async function renew(): Promise<McpGrantView> {
    grant = await tokens.renew(owner, grant)
    return grant
  }

  async function usable(isRefused: boolean): Promise<McpGrantView> {
    if (isRefused || grant === null || leftMs(grant) < spentMs) return renew()
    if (isAging(grant)) renew().catch(report)
    return grant
  }

  return {
    name: grant?.id ?? `${owner.integrationId}/${owner.person?.userId ?? ''}`,
    async authorization(refused) {
      const isRefused = refused !== null && grant !== null && refused === headerOf(grant)
      const header = headerOf(await usable(isRefused))
      given.add(header)
      return header
    },
    refusal: () => tokens.refusal(owner),
    hide: (text) => (given.size === 0 ? text : redactionOfHeaders([...given].flatMap((value) => ['authorization', value])).text(text)),
  }
}

const headerOf = ({ accessToken }: McpGrantView): string => `Bearer ${accessToken}`
