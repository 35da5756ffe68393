import type { Answer } from '../../api/client.ts'
import { count, stepMoment, type Zone } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Chart } from '../../parts/chart.tsx'
import { Failed } from '../../parts/state.tsx'
import { may, type Scope } from '../../shell/scope.ts'

interface OverTimeProps {
  readonly scope: Scope
  readonly zone: Zone
  /** The parameters of the range and of the filter. */
  readonly query: Readonly<Record<string, string>>
  /** Called with the range that a person has chosen. */
  readonly onRange: (range: { readonly from: string; readonly to: string }) => void
}

/** The requests of the list over time, failed ones apart; a part of it is chosen to narrow the range. */
export function OverTime({ scope, zone, query, onRange }: OverTimeProps) {
  const { q: words, ...counted } = query
  const isCounted = may(scope, 'analytics.view') && words === undefined
  const { data, error, refetch } = useRead(
    'GET /analytics/overview',
    {
      workspace: scope.workspace,
      query: { ...counted, measures: 'requests,error_count', ...(scope.workspace && { workspace_slug: scope.workspace }) } as never,
    },
    { enabled: isCounted },
  )
  if (words !== undefined)
    return <p className="hint">Words in bodies cannot be counted over time. The list has the requests that have them.</p>
  if (!isCounted) return null
  if (error !== null && data === undefined) return <Failed what="chart" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <div className="chart-place" aria-hidden="true" />
  return <Drawn data={data} zone={zone} onRange={onRange} />
}

interface DrawnProps extends Pick<OverTimeProps, 'zone' | 'onRange'> {
  readonly data: Answer<'GET /analytics/overview'>
}

function Drawn({ data, zone, onRange }: DrawnProps) {
  const { data_points: points, interval, summary, sampled } = data
  const moments = points.map(({ timestamp }) => stepMoment(timestamp, { interval, zone }))
  const highest = points.reduce((best, { requests = 0 }, at) => (requests > (points[best]?.requests ?? 0) ? at : best), 0)
  const [all, failed] = [summary.requests ?? 0, summary.error_count ?? 0]
  const sums = `${count(all)} ${all === 1 ? 'request' : 'requests'}, ${count(failed)} failed`
  const most = all === 0 ? '' : `; the most in one ${interval}: ${count(points[highest]?.requests ?? 0)} at ${moments[highest] ?? ''}`
  const choose = (first: number, last: number) => onRange({ from: laterOf(points[first]?.timestamp, data), to: endOf(data, last) })
  return (
    <div className="over-time">
      <Chart
        title="Requests over time"
        sentence={`${sums}${most}.`}
        moments={moments}
        series={[
          { name: 'Requests', values: points.map(({ requests }) => requests ?? null), format: count },
          { name: 'Failed', values: points.map(({ error_count: errors }) => errors ?? null), format: count },
        ]}
        linkOf={(at, text) => (
          <button type="button" className="link" onClick={() => choose(at, at)}>
            {text}
          </button>
        )}
        onChoose={choose}
      />
      <p className="hint">
        {sums}
        {sampled === undefined ? '.' : `. These figures are of a sample, of one request in ${sampled.every}.`}
      </p>
    </div>
  )
}

/** The first step can begin before the range. */
const laterOf = (step: string | undefined, { time_of_generation_min: min }: DrawnProps['data']): string =>
  step === undefined || Date.parse(step) < Date.parse(min) ? min : step

/** Returns the end of a step, which is the begin of the next one; the last step ends with the range, of which the API counts the end in. */
const endOf = ({ data_points: points, time_of_generation_max: max }: DrawnProps['data'], at: number): string =>
  points[at + 1]?.timestamp ?? new Date(Date.parse(max) + 1).toISOString()
