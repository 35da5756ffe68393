import { useEffect, useRef, useState } from 'react'
import type { Answer } from '../../api/client.ts'
import { listen } from '../../api/events.ts'
import type { Scope } from '../../shell/scope.ts'

export type Row = Answer<'GET /logs'>['data'][number]

/** New logs as they happen. */
export interface Tail {
  readonly rows: readonly Row[]
  /** How many more came than are shown, because they came too fast. */
  readonly dropped: number
  /** How many came in all. */
  readonly came: number
  readonly isOpen: boolean
  clear(): void
}

const most = 500
const nothing: Pick<Tail, 'rows' | 'dropped' | 'came'> = { rows: [], dropped: 0, came: 0 }

/** Follows new logs while `on`; a hidden window rests. */
export function useTail(on: boolean, scope: Scope, query: Readonly<Record<string, string>>): Tail {
  const [{ rows, dropped, came }, setTail] = useState(nothing)
  const [isOpen, setOpen] = useState(false)
  const asked = JSON.stringify(query)
  const latest = useRef(asked)
  latest.current = asked
  useEffect(() => {
    setTail(nothing)
    if (!on) return
    const stop = new AbortController()
    void listen({
      query: {
        topics: 'logs.tail',
        ...(JSON.parse(asked) as Record<string, string>),
        ...(scope.workspace !== undefined && { workspace_id: scope.workspace }),
      },
      workspace: scope.workspace,
      signal: stop.signal,
      onState: setOpen,
      onEvent({ type, data }) {
        if (type !== 'logs.tail') return
        const { data: fresh, dropped: more } = data as { data: readonly Row[]; dropped: number | null }
        setTail((former) => ({
          rows: [...fresh.toReversed(), ...former.rows].slice(0, most),
          dropped: former.dropped + (more ?? 0),
          came: former.came + fresh.length + (more ?? 0),
        }))
      },
    })
    return () => stop.abort()
  }, [on, scope.workspace, asked])
  return { rows, dropped, came, isOpen, clear: () => setTail(nothing) }
}
