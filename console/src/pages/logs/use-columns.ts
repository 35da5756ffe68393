import { useEffect, useMemo, useState } from 'react'
import type { Zone } from '../../api/figures.ts'
import type { Search, useAddress } from '../../shell/address.ts'
import { columnsOf, metadataColumn, type LogColumn } from './columns.tsx'

/** The choice of a person that this browser keeps. */
interface Kept {
  /** The ids of the columns in their order; null: the usual ones. */
  readonly shown: readonly string[] | null
  readonly widths: Readonly<Record<string, number>>
}

const key = 'gatehouse-columns-logs'
const usual: Kept = { shown: null, widths: {} }
const [narrowest, widest] = [48, 800]

/** Returns the choice that this browser keeps; one that does not parse counts as none. */
function readKept(): Kept {
  try {
    const { shown, widths }: Partial<Kept> = { ...usual, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Kept>) }
    const isList = Array.isArray(shown) && shown.every((id) => typeof id === 'string')
    const sound = Object.entries(widths ?? {}).filter(([, width]) => width >= narrowest && width <= widest)
    return { shown: isList ? shown : null, widths: Object.fromEntries(sound) }
  } catch {
    return usual
  }
}

/** The columns of the list. */
export interface Columns {
  /** Those that are shown, in their order. */
  readonly shown: readonly LogColumn[]
  /** Those that are not. */
  readonly others: readonly LogColumn[]
  readonly show: (ids: readonly string[]) => void
  readonly setWidth: (id: string, width: number) => void
  readonly reset: () => void
}

interface Place {
  readonly zone: Zone
  readonly withWorkspace: boolean
}

/** The columns that the address names, else those that this browser keeps, else the usual ones. */
export function useColumns({ zone, withWorkspace }: Place, [search, change]: readonly [Search, ReturnType<typeof useAddress>[1]]): Columns {
  const [kept, setKept] = useState(readKept)
  const named = search['cols']
  const known = useMemo(() => columnsOf(zone, withWorkspace), [zone, withWorkspace])
  const usualIds = known.filter((column) => column.usual).map(({ id }) => id)
  const { shown, others } = useMemo(() => {
    const asked = named?.split(',') ?? kept.shown ?? []
    const found = [...new Set(asked)].flatMap((id) => known.find((one) => one.id === id) ?? metadataColumn(id) ?? [])
    const columns = found.length > 0 ? found : known.filter((column) => column.usual)
    return {
      shown: columns.map((column) => ({ ...column, width: kept.widths[column.id] ?? column.width })),
      others: known.filter(({ id }) => !columns.some((one) => one.id === id)),
    }
  }, [known, named, kept])
  // A link to the page is to show the same columns to others.
  const own = kept.shown?.join(',') ?? ''
  useEffect(() => {
    if (named === undefined && own !== '') change({ cols: own }, { replace: true })
  })
  const keep = (next: Kept) => {
    localStorage.setItem(key, JSON.stringify(next))
    setKept(next)
  }
  return {
    shown,
    others,
    show: (ids) => {
      const isUsual = ids.join() === usualIds.join()
      keep({ ...kept, shown: isUsual ? null : ids })
      change({ cols: isUsual ? '' : ids.join(',') }, { replace: true })
    },
    setWidth: (id, width) => keep({ ...kept, widths: { ...kept.widths, [id]: Math.max(narrowest, Math.min(widest, Math.round(width))) } }),
    reset: () => {
      keep(usual)
      change({ cols: '' }, { replace: true })
    },
  }
}
