/** The ranges of time to choose from, in hours. */
export const ranges: Readonly<Record<string, { readonly label: string; readonly hours: number }>> = {
  '1h': { label: 'Last hour', hours: 1 },
  '24h': { label: 'Last 24 hours', hours: 24 },
  '7d': { label: 'Last 7 days', hours: 168 },
  '30d': { label: 'Last 30 days', hours: 720 },
}

export const defaultRange = '24h'

const stepMs = 60_000

/** Returns the parameters of a range: one by its name, or between two moments. It moves on with the clock by the minute, so that equal views ask alike. */
export function rangeQuery(
  { t, from, to }: { readonly t?: string; readonly from?: string; readonly to?: string },
  now = Date.now(),
): Readonly<Record<string, string>> {
  if (from !== undefined && !Number.isNaN(Date.parse(from)))
    return { time_of_generation_min: from, ...(to !== undefined && !Number.isNaN(Date.parse(to)) && { time_of_generation_max: to }) }
  const { hours } = ranges[t ?? defaultRange] ?? { hours: 24 }
  return { time_of_generation_min: new Date(Math.floor(now / stepMs) * stepMs - hours * 3_600_000).toISOString() }
}
