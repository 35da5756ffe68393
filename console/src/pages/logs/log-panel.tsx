import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Zone } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Aside } from '../../parts/aside.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { consolePath } from '../../api/client.ts'
import { scopePath } from '../../shell/places.ts'
import type { Scope } from '../../shell/scope.ts'
import { LogDetail } from './log-detail.tsx'

interface LogPanelProps {
  readonly id: string
  readonly scope: Scope
  readonly zone: Zone
  readonly onClose: () => void
  readonly onStep: (by: number) => void
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [role="grid"]') !== null

/** One log beside the list; `j` and `k` go on within the filtered rows. */
export function LogPanel({ id, scope, zone, onClose, onStep }: LogPanelProps) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === 'Escape') onClose()
      else if (event.key === 'j') onStep(1)
      else if (event.key === 'k') onStep(-1)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
  const to = `${scopePath(scope)}/logs/${id}`
  return (
    <Aside
      label="Log"
      head={
        <>
          <Button variant="default" onClick={() => onStep(-1)}>
            Previous log
          </Button>
          <Button variant="default" onClick={() => onStep(1)}>
            Next log
          </Button>
          <Link to={to as never}>Open as page</Link>
          <Copy text={`${location.origin}${consolePath}${to}`} label="Copy link" word="Copy link" />
        </>
      }
      onClose={onClose}
    >
      <LogContents id={id} scope={scope} zone={zone} />
    </Aside>
  )
}

/** Reads a log and shows it. */
export function LogContents({ id, scope, zone }: Pick<LogPanelProps, 'id' | 'scope' | 'zone'>) {
  const { data, error, refetch } = useRead(
    'GET /logs/{logId}',
    { path: { logId: id }, workspace: scope.workspace },
    { staleTime: Number.POSITIVE_INFINITY },
  )
  if (data === undefined) return error === null ? <Loading rows={8} /> : <Failed what="log" error={error} onRetry={() => void refetch()} />
  return <LogDetail log={data} zone={zone} />
}
