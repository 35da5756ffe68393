import { Button, NativeSelect, Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import { stepMoment, type Zone } from '../../api/figures.ts'
import type { Search, useAddress } from '../../shell/address.ts'
import { defaultRange, endsOf, ranges } from './range.ts'

interface ToolsProps {
  readonly search: Search
  readonly change: ReturnType<typeof useAddress>[1]
  readonly zone: Zone
  readonly setZone: (zone: Zone) => void
  readonly onRefresh: () => void
  readonly children?: ReactNode
}

const zones = [
  { value: 'utc', label: 'UTC' },
  { value: 'local', label: 'Local' },
]

const chosen = 'chosen'

/** Returns the words of a range between two moments; null: it is a range by its name. */
function wordsOf(search: Search, zone: Zone): string | null {
  const ends = endsOf(search)
  if (ends === null) return null
  const word = (iso: string) => stepMoment(iso, { interval: 'minute', zone })
  const unit = zone === 'utc' ? 'UTC' : 'local'
  return ends.to === undefined ? `Since ${word(ends.from)} ${unit}` : `${word(ends.from)} to ${word(ends.to)} ${unit}, end excluded`
}

/** The switches of the list of logs, beside its title. */
export function Tools({ search, change, zone, setZone, onRefresh, children }: ToolsProps) {
  const words = wordsOf(search, zone)
  const named = Object.entries(ranges).map(([value, { label }]) => ({ value, label }))
  const setRange = (value: string) => {
    if (value !== chosen) change({ t: value === defaultRange ? '' : value, from: '', to: '' })
  }
  return (
    <>
      <Switch
        label="Live"
        checked={search['live'] === '1'}
        onChange={(event) => change(event.currentTarget.checked ? { live: '1', to: '' } : { live: '' }, { replace: true })}
      />
      <NativeSelect
        aria-label="Time range"
        value={words === null ? (search['t'] ?? defaultRange) : chosen}
        data={words === null ? named : [{ value: chosen, label: words }, ...named]}
        onChange={({ currentTarget: { value } }) => setRange(value)}
      />
      <NativeSelect
        aria-label="Time zone"
        value={zone}
        data={zones}
        onChange={(event) => setZone(event.currentTarget.value === 'utc' ? 'utc' : 'local')}
      />
      {children}
      <Button variant="default" onClick={onRefresh}>
        Refresh
      </Button>
    </>
  )
}
