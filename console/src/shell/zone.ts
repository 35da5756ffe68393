import { useState } from 'react'
import type { Zone } from '../api/figures.ts'

const key = 'gatehouse-zone'

/** The zone of the times that a person reads, kept in this browser. */
export function useZone(): readonly [Zone, (zone: Zone) => void] {
  const [zone, setZone] = useState<Zone>(localStorage.getItem(key) === 'local' ? 'local' : 'utc')
  const change = (to: Zone) => {
    localStorage.setItem(key, to)
    setZone(to)
  }
  return [zone, change]
}
