import { Button } from '@mantine/core'
import { useRef, useState, type KeyboardEvent } from 'react'
import type { Answer } from '../../api/client.ts'
import { count, duration, exactMoney } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { visible } from '../../parts/text-of-data.tsx'
import type { LogProps } from './log-detail.tsx'

type Detail = Answer<'GET /traces/{traceId}'>
type Span = Detail['spans'][number]

/** The requests and spans of the same trace as a tree. */
export function Trace({ log: { _id: id, metrics }, scope, onOpen }: LogProps) {
  const { data, error, refetch } = useRead('GET /traces/{traceId}', {
    path: { traceId: metrics.trace_id },
    workspace: scope.workspace,
    query: scope.workspace === undefined ? {} : { workspace_id: scope.workspace },
  })
  if (data === undefined)
    return error === null ? <Loading rows={4} /> : <Failed what="trace" error={error} onRetry={() => void refetch()} />
  return <Tree key={data.trace_id} trace={data} current={id} onOpen={onOpen} />
}

interface TreeProps extends Pick<LogProps, 'onOpen'> {
  readonly trace: Detail
  /** The log from which the trace was opened. */
  readonly current: string
}

const atOnce = 200

function Tree({ trace: { spans, truncated, trace_id: traceId }, current, onOpen }: TreeProps) {
  const [shown, setShown] = useState(atOnce)
  const [at, setAt] = useState(() => Math.max(0, spans.findIndex(isOf(current))))
  const box = useRef<HTMLDivElement>(null)
  const visibleSpans = spans.slice(0, Math.max(shown, at + 1))
  const range = rangeOf(spans)
  const goTo = (to: number) => {
    setAt(to)
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-span="${to}"]`)?.focus())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = moveTo(event.key, { at, spans: visibleSpans })
    const log = spans[at]?.log_id
    if (to !== null) goTo(to)
    else if (event.key === 'Enter' && typeof log === 'string') onOpen(log)
    else return
    event.preventDefault()
  }
  return (
    <>
      <p className="hint text-of-data">
        {spans.length} {spans.length === 1 ? 'part' : 'parts'} of the trace {visible(traceId)}
        {truncated && '. It has more parts than are shown here'}. Arrows move, Enter opens the log of a part.
      </p>
      <div ref={box} role="tree" aria-label="Trace" className="trace" onKeyDown={onKeyDown}>
        {visibleSpans.map((span, index) => (
          <Part
            key={`${span.span_id}${index}`}
            {...{ span, index, range, spans }}
            isCurrent={isOf(current)(span)}
            isStop={index === at}
            onClick={() => {
              setAt(index)
              if (span.log_id !== null) onOpen(span.log_id)
            }}
          />
        ))}
      </div>
      {visibleSpans.length < spans.length && (
        <div className="row">
          <Button variant="default" onClick={() => setShown(visibleSpans.length + atOnce)}>
            Load more
          </Button>
        </div>
      )}
    </>
  )
}

const isOf =
  (log: string) =>
  ({ log_id: id, source }: Span): boolean =>
    id === log && source === 'request'

interface Range {
  readonly from: number
  readonly length: number
}

function rangeOf(spans: readonly Span[]): Range {
  const from = spans.reduce((least, { start_time: start }) => Math.min(least, Date.parse(start)), Infinity)
  const to = spans.reduce((most, { start_time: start, duration_ms: took }) => Math.max(most, Date.parse(start) + took), 0)
  return { from, length: Math.max(1, to - from) }
}

/** Returns the part to which a key leads; null: it leads to none. */
function moveTo(key: string, { at, spans }: { readonly at: number; readonly spans: readonly Span[] }): number | null {
  const depth = spans[at]?.depth ?? 0
  const parent = spans.slice(0, at).findLastIndex((span) => span.depth < depth)
  const isParent = (spans[at + 1]?.depth ?? 0) > depth
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(spans.length - 1, at + 1),
    ArrowUp: Math.max(0, at - 1),
    ArrowRight: isParent ? at + 1 : at,
    ArrowLeft: Math.max(0, parent === -1 ? at : parent),
    Home: 0,
    End: spans.length - 1,
  }
  return moves[key] ?? null
}

interface PartProps {
  readonly span: Span
  readonly index: number
  readonly spans: readonly Span[]
  readonly range: Range
  readonly isCurrent: boolean
  /** The tab key reaches it. */
  readonly isStop: boolean
  readonly onClick: () => void
}

const percent = (part: number, { length }: Range): string => `${Math.min(100, (part / length) * 100)}%`
const sources: Readonly<Record<Span['source'], string>> = { request: 'Request', attempt: 'Attempt', client: 'Span' }

function Part({ span, index, spans, range, isCurrent, isStop, onClick }: PartProps) {
  const { name, source, depth, status, status_message: message, duration_ms: took, start_time: start, model, cost_pico_usd: cost } = span
  const offset = Date.parse(start) - range.from
  const notes = [
    model,
    span.total_units === null ? '' : `${count(span.total_units)} tokens`,
    cost === null ? '' : exactMoney(cost),
    span.parent_span_id !== null && !span.parent_received ? 'its parent was not received' : '',
  ]
  const { place, size } = placeAmong(spans, index)
  return (
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={size}
      aria-current={isCurrent || undefined}
      aria-expanded={(spans[index + 1]?.depth ?? 0) > depth || undefined}
      data-span={index}
      tabIndex={isStop ? 0 : -1}
      className="trace-row"
      onClick={onClick}
    >
      <span className="text-of-data" style={{ paddingLeft: Math.min(depth, 12) * 12 }}>
        {sources[source]} <strong>{visible(name)}</strong> {status === 'error' && <span className="chip danger">Failed</span>}{' '}
        <span className="hint">
          {[...notes, message]
            .filter(Boolean)
            .map((text) => visible(text ?? ''))
            .join(', ')}
        </span>
      </span>
      <span className="trace-time">
        <span className="trace-line" aria-hidden="true">
          <span className={status === 'error' ? 'over' : ''} style={{ left: percent(offset, range), width: percent(took, range) }} />
        </span>
        <span className="hint">
          {duration(took)} from {duration(Math.max(0, offset))}
        </span>
      </span>
    </div>
  )
}

/** Returns the place of a part among those with the same parent. */
function placeAmong(spans: readonly Span[], index: number): { readonly place: number; readonly size: number } {
  const depth = spans[index]?.depth ?? 0
  let first = index
  while (first > 0 && (spans[first - 1]?.depth ?? -1) >= depth) first -= 1
  let last = index
  while (last < spans.length - 1 && (spans[last + 1]?.depth ?? -1) >= depth) last += 1
  const brothers = spans.slice(first, last + 1)
  return {
    place: brothers.slice(0, index - first + 1).filter((span) => span.depth === depth).length,
    size: brothers.filter((span) => span.depth === depth).length,
  }
}
