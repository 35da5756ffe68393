import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/client.ts'
import { count, picoOfCents, shortMoney, stepMoment, type Zone } from '../../api/figures.ts'
import { Chart } from '../../parts/chart.tsx'
import { scopePath } from '../../shell/places.ts'
import type { Scope } from '../../shell/scope.ts'

export type Overview = Answer<'GET /analytics/overview'>

interface ChartsProps {
  readonly data: Overview
  readonly scope: Scope
  readonly zone: Zone
}

const cents = (value: number): string => shortMoney(picoOfCents(value))

/** Requests with their failures, and the cost, over the range. */
export function Charts({ data, scope, zone }: ChartsProps) {
  const { data_points: points, interval, summary, time_of_generation_max: end } = data
  const moments = points.map(({ timestamp }) => stepMoment(timestamp, { interval, zone }))
  const highest = points.reduce((best, { requests = 0 }, at) => (requests > (points[best]?.requests ?? 0) ? at : best), 0)
  const linkOf = (at: number, text: string) => {
    const from = points[at]?.timestamp ?? ''
    return (
      <Link to={`${scopePath(scope)}/logs` as never} search={{ from, to: points[at + 1]?.timestamp ?? end } as never}>
        {text}
      </Link>
    )
  }
  return (
    <div className="charts">
      <Chart
        title="Requests and failures"
        sentence={`${count(summary.requests ?? 0)} requests, ${count(summary.error_count ?? 0)} failed; the most in one ${interval}: ${count(points[highest]?.requests ?? 0)} at ${moments[highest] ?? ''}.`}
        moments={moments}
        series={[
          { name: 'Requests', values: points.map(({ requests }) => requests ?? null), format: count },
          { name: 'Failed', values: points.map(({ error_count: failed }) => failed ?? null), format: count },
        ]}
        linkOf={linkOf}
      />
      <Chart
        title="Cost"
        sentence={summary.cost === null || summary.cost === undefined ? 'No request has a known price.' : `${cents(summary.cost)} in all.`}
        moments={moments}
        series={[{ name: 'Cost', values: points.map(({ cost }) => cost ?? null), format: cents }]}
        linkOf={linkOf}
      />
    </div>
  )
}
