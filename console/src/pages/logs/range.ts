/** The ranges of time to choose from, in hours. */
export const ranges: Readonly<Record<string, { readonly label: string; readonly hours: number }>> = {
  '1h': { label: 'Last hour', hours: 1 },
  '24h': { label: 'Last 24 hours', hours: 24 },
  '7d': { label: 'Last 7 days', hours: 168 },
  '30d': { label: 'Last 30 days', hours: 720 },
}

export const defaultRange = '24h'

const stepMs = 60_000

const isMoment = (text: string | undefined): text is string => text !== undefined && !Number.isNaN(Date.parse(text))

/** Returns the ends of a range between two moments, the second of which is no part of it; null: it is a range by its name. */
export const endsOf = ({
  from,
  to,
}: {
  readonly from?: string
  readonly to?: string
}): { readonly from: string; readonly to?: string } | null => (isMoment(from) ? { from, ...(isMoment(to) && { to }) } : null)

/**
 * Returns the parameters of a range: one by its name, or between two moments. It moves on with the clock by the minute, so that equal views ask
 * alike. The API counts the end of a range in, and the console does not, so that ranges side by side have no request twice.
 */
export function rangeQuery(
  { t, from, to }: { readonly t?: string; readonly from?: string; readonly to?: string },
  now = Date.now(),
): Readonly<Record<string, string>> {
  const ends = endsOf({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
  if (ends !== null)
    return {
      time_of_generation_min: ends.from,
      ...(ends.to !== undefined && { time_of_generation_max: new Date(Date.parse(ends.to) - 1).toISOString() }),
    }
  const { hours } = ranges[t ?? defaultRange] ?? { hours: 24 }
  return { time_of_generation_min: new Date(Math.floor(now / stepMs) * stepMs - hours * 3_600_000).toISOString() }
}
