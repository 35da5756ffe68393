import { Button, NativeSelect } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { count, duration, picoOfCents, shortMoney } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Page } from '../../parts/page.tsx'
import { Failed, Loading, State } from '../../parts/state.tsx'
import { Status, statusOf } from '../../parts/status.tsx'
import { TimeOf } from '../../parts/time-of.tsx'
import { useAddress } from '../../shell/address.ts'
import { scopePath } from '../../shell/places.ts'
import { may, useScope, type Scope } from '../../shell/scope.ts'
import { useZone } from '../../shell/zone.ts'
import { defaultRange, ranges } from '../logs/range.ts'
import { useRange } from '../logs/use-range.ts'
import { Snippet } from '../logs/snippet.tsx'
import { Attention } from './attention.tsx'
import { Charts, type Overview } from './charts.tsx'
import { TopLists } from './top-lists.tsx'

/** Shows whether a workspace is well, what it costs and what needs the person. */
export function HomePage() {
  const scope = useScope()
  const [search, change] = useAddress()
  const range = search['t'] ?? defaultRange
  const { query } = useRange({ t: range })
  if (scope === null) return null
  const tools = (
    <NativeSelect
      aria-label="Time range"
      value={range}
      data={Object.entries(ranges).map(([value, { label }]) => ({ value, label }))}
      onChange={(event) => change({ t: event.currentTarget.value === defaultRange ? '' : event.currentTarget.value })}
    />
  )
  return (
    <Page title="Home" tools={tools}>
      {may(scope, 'workspaces.read') && <Attention scope={scope} />}
      {may(scope, 'analytics.view') ? (
        <Figures scope={scope} range={range} query={query} />
      ) : (
        <p className="muted">Figures need analytics.view, which you do not have here.</p>
      )}
      {may(scope, 'logs.list') && <Failures scope={scope} query={query} />}
    </Page>
  )
}

interface RangeProps {
  readonly scope: Scope
  readonly range: string
  /** The parameters of the range. */
  readonly query: Readonly<Record<string, string>>
}

function Figures({ scope, range, query }: RangeProps) {
  const [zone] = useZone()
  const { data, error, refetch } = useRead('GET /analytics/overview', {
    workspace: scope.workspace,
    query: {
      ...query,
      measures: 'requests,cost,p95_latency,error_count',
      compare: 'previous',
      ...(scope.workspace && { workspace_slug: scope.workspace }),
    },
  })
  if (data === undefined) return error === null ? <Loading rows={2} /> : <Failed what="page" error={error} onRetry={() => void refetch()} />
  if (data.summary.requests === 0)
    return (
      <State title="No requests in this range.">
        <p>Send one through Gatehouse, and its figures are here a moment later.</p>
        {scope.kind === 'workspace' && <Snippet scope={scope} />}
      </State>
    )
  const logs = `${scopePath(scope)}/logs`
  const t = range === defaultRange ? {} : { t: range }
  return (
    <>
      <div className="cards">
        {cardsOf(data).map(({ name, value, change, q }) => (
          <Link key={name} className="card" to={logs as never} search={{ ...t, ...(q && { q }) } as never}>
            <span className="muted">{name}</span> <strong>{value}</strong>{' '}
            {change !== '' && (
              <span className="hint">
                {change}
                <span className="hidden"> to the range before</span>
              </span>
            )}
          </Link>
        ))}
      </div>
      <p className="hint">
        {data.sampled === undefined ? '' : `These figures are of a sample, of one request in ${data.sampled.every}. `}
        Requests without a known price have no part in the cost.
      </p>
      <Charts data={data} scope={scope} zone={zone} />
      <TopLists scope={scope} query={query} range={t} />
    </>
  )
}

interface Card {
  readonly name: string
  readonly value: string
  readonly change: string
  /** The filter of the logs that it counts. */
  readonly q?: string
}

function cardsOf({ summary, previous }: Overview): readonly Card[] {
  const before = previous?.summary
  const { requests = 0, cost, p95_latency: p95, error_count: errors } = summary
  return [
    { name: 'Requests', value: count(requests), change: changeOf(requests, before?.requests) },
    {
      name: 'Cost',
      value: cost === null || cost === undefined ? 'Unpriced' : shortMoney(picoOfCents(cost)),
      change: changeOf(cost, before?.cost),
    },
    { name: 'p95', value: p95 === null || p95 === undefined ? '–' : duration(p95), change: changeOf(p95, before?.p95_latency) },
    {
      name: 'Failed',
      value: `${count(errors ?? 0)} of ${count(requests)}`,
      change: changeOf(errors, before?.error_count),
      q: 'success:no',
    },
  ]
}

/** Returns the change in per cent; empty without a figure to compare with. */
function changeOf(now: number | null | undefined, before: number | null | undefined): string {
  if (now === null || now === undefined || !before) return ''
  const percent = Math.round((now / before - 1) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

const most = 5

function Failures({ scope, query }: Omit<RangeProps, 'range'>) {
  const { data, error, refetch } = useRead('GET /logs', {
    workspace: scope.workspace,
    query: { ...query, is_success: 'false', page_size: most, ...(scope.workspace && { workspace_id: scope.workspace }) },
  })
  const logs = `${scopePath(scope)}/logs`
  let contents: ReactNode = null
  if (data === undefined)
    contents = error === null ? <Loading rows={3} /> : <Failed what="list" error={error} onRetry={() => void refetch()} />
  else if (data.data.length === 0) contents = <p className="muted">No request failed in this range.</p>
  else
    contents = (
      <table className="plain" aria-label="Latest failures">
        <tbody>
          {data.data.map((row) => (
            <tr key={row.id}>
              <td>
                <Link to={`${logs}/${row.id}` as never}>
                  <TimeOf iso={row.created_at} />
                </Link>
              </td>
              <td>
                <Status {...statusOf(row)} />
              </td>
              <td className="text-of-data">{row.ai_model}</td>
              <td className="text-of-data">{row.api_key_name}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )
  return (
    <section className="stack" aria-label="Latest failures">
      <h2>Latest failures</h2>
      {contents}
      <div className="row">
        <Button component={Link} variant="default" to={logs as never} search={{ q: 'success:no' } as never}>
          All failures
        </Button>
      </div>
    </section>
  )
}
