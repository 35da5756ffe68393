import type { FoundPrices } from '../prices/resolve.ts'
import type { PriceFacts } from '../prices/rates.ts'
import type { Target } from '../targets/target.ts'

/** Returns the place where a target serves, as far as the target itself states it. */
export function placeOf(target: Target, found: Pick<FoundPrices, 'geo' | 'region'> | null): Pick<PriceFacts, 'geo' | 'region'> {
  const region = found?.region ?? regionOf(target)
  return { geo: found?.geo ?? geoOf(target, region), region }
}

function regionOf({ credential: { fields }, provider, providerId, place = null }: Target): string | null {
  if (providerId === 'vertex-ai' && place !== null) return place
  return fields['aws_region'] ?? fields['vertex_region'] ?? provider.fields?.['vertex_region'] ?? null
}

/** Vertex sells every place but `global` as a regional one. */
const geoOf = ({ providerId }: Target, region: string | null): string | null =>
  providerId === 'vertex-ai' && region !== null && region !== 'global' ? 'regional' : null
