import { useMemo, useState } from 'react'
import { rangeQuery } from './range.ts'

interface Range {
  /** The parameters of the range; they stay the same until the person chooses another range or asks anew. */
  readonly query: Readonly<Record<string, string>>
  /** Lets the range end now. */
  readonly renew: () => void
}

/** The range of time in the address. A list must not be read anew only because a minute has passed. */
export function useRange({ t, from, to }: { readonly t?: string; readonly from?: string; readonly to?: string }): Range {
  const [now, setNow] = useState(() => Date.now())
  const query = useMemo(
    () => rangeQuery({ ...(t !== undefined && { t }), ...(from !== undefined && { from }), ...(to !== undefined && { to }) }, now),
    [t, from, to, now],
  )
  return { query, renew: () => setNow(Date.now()) }
}
