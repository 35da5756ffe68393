import type { Loss } from '../neutral/loss.ts'
import type { Size } from './neutral.ts'

const areaOf = (ratio: string): number => {
  const [width = '1', height = '1'] = ratio.split(':')
  return Number(width) / Number(height)
}

/**
 * Returns the provider's shape that is nearest to a size; null when none is asked for. A shape that differs from that of the size is reported as a
 * loss.
 */
export function ratioFor(size: Size | null, ratios: readonly string[], loss: Loss): string | null {
  if (size === null) return null
  const asked = size.width / size.height
  const distance = (ratio: string): number => Math.abs(Math.log(areaOf(ratio) / asked))
  const nearest = ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best))
  if (distance(nearest) > 1e-6) loss.dropAt('size', 'has no such shape there')
  return nearest
}
