import { compareVersions } from './version.ts'

const pattern = /^(>=?)(\S+)$/

/** Returns true if a chart satisfies a floor such as `>1.4.0` or `>=1.6.0`; every chart satisfies null. */
export function satisfies(chart: string, floor: string | null): boolean {
  if (floor === null) return true
  const { orEqual, version } = parse(floor)
  return compareVersions(chart, version) >= (orEqual ? 0 : 1)
}

/** Like `compareVersions`, for floors: none is the lowest, and `>1.4.0` is above `>=1.4.0`. */
export function compareFloors(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  const [left, right] = [parse(one), parse(other)]
  return compareVersions(left.version, right.version) || Number(right.orEqual) - Number(left.orEqual)
}

function parse(floor: string): { readonly orEqual: boolean; readonly version: string } {
  const [, operator, version] = pattern.exec(floor) ?? []
  if (version === undefined) throw new RangeError(`${floor} is no floor: write >1.4.0 or >=1.6.0`)
  return { orEqual: operator === '>=', version }
}
