import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Zone } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Aside } from '../../parts/aside.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Failed, Forbidden, Loading, State } from '../../parts/state.tsx'
import { consolePath, type ApiFailure } from '../../api/client.ts'
import { scopePath } from '../../shell/places.ts'
import { may, type Scope } from '../../shell/scope.ts'
import { LogDetail, SummaryOf } from './log-detail.tsx'
import type { Row } from './use-tail.ts'

interface LogPanelProps {
  readonly id: string
  readonly scope: Scope
  readonly zone: Zone
  /** What the list has of it, which stands when the rest cannot be read. */
  readonly row: Row | undefined
  readonly onOpen: (id: string) => void
  readonly onClose: () => void
  readonly onStep: (by: number) => void
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [role="grid"]') !== null

/** One log beside the list; `j` and `k` go on within the filtered rows. */
export function LogPanel({ id, scope, zone, row, onOpen, onClose, onStep }: LogPanelProps) {
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
      <LogContents id={id} scope={scope} zone={zone} row={row} onOpen={onOpen} />
    </Aside>
  )
}

/** Reads a log and shows it. */
export function LogContents({ id, scope, zone, row, onOpen }: Pick<LogPanelProps, 'id' | 'scope' | 'zone' | 'row' | 'onOpen'>) {
  const mayRead = may(scope, 'logs.view')
  const { data, error, refetch } = useRead(
    'GET /logs/{logId}',
    { path: { logId: id }, workspace: scope.workspace },
    { staleTime: Number.POSITIVE_INFINITY, enabled: mayRead },
  )
  if (data !== undefined) return <LogDetail log={data} zone={zone} scope={scope} onOpen={onOpen} />
  if (mayRead && error === null) return <Loading rows={8} />
  return (
    <>
      {row !== undefined && error?.status !== 404 && <SummaryOf metrics={row} zone={zone} />}
      {error === null ? <Forbidden right="logs.view" /> : <Unread error={error} onRetry={() => void refetch()} />}
    </>
  )
}

/** The beginning of the API's sentence when the figures of a log are there, and its bodies are not. */
const ofBodies = 'The bodies and headers of this log'

const Unread = ({ error, onRetry }: { readonly error: ApiFailure; readonly onRetry: () => void }) =>
  error.message.startsWith(ofBodies) ? (
    <State title="The bodies cannot be read." alert>
      <p>{error.message}</p>
      <Button onClick={onRetry}>Try again</Button>
    </State>
  ) : (
    <Failed what="log" error={error} onRetry={onRetry} />
  )
