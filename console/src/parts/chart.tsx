import { Button } from '@mantine/core'
import { useState, type KeyboardEvent, type ReactNode } from 'react'

/** A series of figures over time. */
export interface Series {
  readonly name: string
  /** One figure for each moment; null: there is none. */
  readonly values: readonly (number | null)[]
  readonly format: (value: number) => string
}

interface ChartProps {
  readonly title: string
  /** What the chart shows in one sentence. */
  readonly sentence: string
  /** The moments in words, one for each figure. */
  readonly moments: readonly string[]
  /** Bars beside one another in time; at most two series, the second drawn over the first. */
  readonly series: readonly Series[]
  /** A link to the parts of a moment, in the table. */
  readonly linkOf?: (at: number, text: string) => ReactNode
}

const [width, height] = [600, 120]

/** Bars over time with a sentence for those who do not see them, a table of the same, and arrow keys to read point by point. */
export function Chart({ title, sentence, moments, series, linkOf = (_, text) => text }: ChartProps) {
  const [isTable, setTable] = useState(false)
  const [at, setAt] = useState<number | null>(null)
  const last = moments.length - 1
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: Math.min(last, (at ?? -1) + 1),
    ArrowLeft: Math.max(0, (at ?? last + 1) - 1),
    Home: 0,
    End: last,
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = moves[event.key]
    if (to === undefined) return
    setAt(to)
    event.preventDefault()
  }
  return (
    <section className="chart stack" aria-label={title}>
      <div className="row">
        <h2>{title}</h2>
        <Legend series={series} />
        <Button variant="default" aria-pressed={isTable} aria-label={`Show as table: ${title}`} onClick={() => setTable(!isTable)}>
          Show as table
        </Button>
      </div>
      {isTable ? (
        <Table title={title} moments={moments} series={series} linkOf={linkOf} />
      ) : (
        <>
          <div role="img" aria-label={`${title}. ${sentence}`} tabIndex={0} onKeyDown={onKeyDown} onMouseLeave={() => setAt(null)}>
            <Bars series={series} count={moments.length} at={at} onPoint={setAt} />
          </div>
          <p className="hint" role="status">
            {at === null ? `${moments[0] ?? ''} to ${moments[last] ?? ''}` : pointWords({ moments, series }, at)}
          </p>
        </>
      )}
    </section>
  )
}

const figure = ({ values, format }: Series, at: number): string => {
  const value = values[at]
  return value === null || value === undefined ? '–' : format(value)
}

const pointWords = ({ moments, series }: Pick<ChartProps, 'moments' | 'series'>, at: number): string =>
  `${moments[at] ?? ''}: ${series.map((one) => `${one.name} ${figure(one, at)}`).join(', ')}`

const Legend = ({ series }: Pick<ChartProps, 'series'>) => (
  <ul className="legend" aria-label="Legend">
    {series.map(({ name }, index) => (
      <li key={name}>
        <span className={`mark series-${index + 1}`} aria-hidden="true" /> {name}
      </li>
    ))}
  </ul>
)

interface BarsProps {
  readonly series: readonly Series[]
  readonly count: number
  readonly at: number | null
  readonly onPoint: (at: number) => void
}

function Bars({ series, count, at, onPoint }: BarsProps) {
  const highest = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0)
  const step = width / Math.max(count, 1)
  const tall = (value: number | null | undefined) => (highest === 0 ? 0 : ((value ?? 0) / highest) * (height - 4))
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" className="bars">
      {Array.from({ length: count }, (_, index) => (
        <g key={index} onMouseEnter={() => onPoint(index)}>
          <rect x={index * step} y={0} width={step} height={height} className={index === at ? 'reach current' : 'reach'} />
          {series.map(({ name, values }, order) => (
            <rect
              key={name}
              className={`series-${order + 1}`}
              x={index * step + step * (order === 0 ? 0.1 : 0.3)}
              width={step * (order === 0 ? 0.8 : 0.4)}
              y={height - tall(values[index])}
              height={tall(values[index])}
            />
          ))}
        </g>
      ))}
      <line x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} className="axis" />
    </svg>
  )
}

const Table = ({ title, moments, series, linkOf }: Required<Omit<ChartProps, 'sentence'>>) => (
  <table className="plain" aria-label={title}>
    <thead>
      <tr>
        <th scope="col">Time</th>
        {series.map(({ name }) => (
          <th key={name} scope="col" className="end">
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {moments.map((moment, at) => (
        <tr key={moment}>
          <th scope="row">{linkOf(at, moment)}</th>
          {series.map((one) => (
            <td key={one.name} className="end">
              {figure(one, at)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
