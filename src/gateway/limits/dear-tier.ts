import { type Fields, isFields } from '../../lib/json/fields.ts'
import { tiersInHeaders } from '../dialects/tier-headers.ts'
import type { HeaderList } from '../wire/header-list.ts'
import { sentFields } from '../dialects/sent-fields.ts'

/** The mode of the dearest tier in which a request may be served. */
export interface AskedTier {
  readonly mode: string | null
  /** True if it names the tier; false: it leaves it open. */
  readonly isNamed: boolean
}

/** The modes of the tiers that cost more, by the names that requests have for them. */
const dearTiers: Readonly<Record<string, string>> = {
  ultrafast: 'ultrafast',
  fast: 'priority',
  priority: 'priority',
  // docs.aws.amazon.com/bedrock/latest/userguide/latency-optimized-inference.html
  optimized: 'optimized',
}
/** The word for a tier that is left open. */
const open = 'auto'
/** A request that leaves the tier open may be served in the dear one. */
export function dearestTier(json: Fields, headers: HeaderList): AskedTier {
  const all = sentFields(json)
  if (all.some(({ speed }) => speed === 'fast')) return { mode: 'fast', isNamed: true }
  const words = [...all.flatMap(tiersOf), ...tiersInHeaders(headers)]
  const asked = new Set(words.map((tier) => tier.trim().toLowerCase()))
  const named = Object.keys(dearTiers).find((tier) => asked.has(tier))
  if (named !== undefined) return { mode: dearTiers[named] ?? null, isNamed: true }
  return { mode: asked.has(open) ? 'priority' : null, isNamed: false }
}

/** Returns the tiers that a request names, in the words of every format. */
const tiersOf = ({ service_tier: snake, serviceTier: camel, performanceConfig: performance }: Fields): readonly string[] =>
  [snake, isFields(camel) ? camel['type'] : camel, isFields(performance) ? performance['latency'] : null].filter(
    (tier) => typeof tier === 'string',
  )
