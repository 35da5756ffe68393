import { Button } from '@mantine/core'
import { useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'

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
  /** Called with the first and the last of the moments that a person has chosen: by a click, by drawing over bars, or by Enter. */
  readonly onChoose?: (first: number, last: number) => void
}

/** The moments from one to another, in their order. */
interface Span {
  readonly first: number
  readonly last: number
}
const spanOf = (one: number, other: number): Span => ({ first: Math.min(one, other), last: Math.max(one, other) })

/** Moves a mark over the moments by keys, and a second one to the place where the mark began. */
function usePoint(last: number, onChoose: ChartProps['onChoose']) {
  const [at, setAt] = useState<number | null>(null)
  const [from, setFrom] = useState<number | null>(null)
  const choose = () => {
    if (at !== null) onChoose?.(Math.min(from ?? at, at), Math.max(from ?? at, at))
    setFrom(null)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: Math.min(last, (at ?? -1) + 1),
      ArrowLeft: Math.max(0, (at ?? last + 1) - 1),
      Home: 0,
      End: last,
    }
    const to = moves[event.key]
    if (to !== undefined) {
      setFrom(onChoose !== undefined && event.shiftKey ? (from ?? at ?? to) : null)
      setAt(to)
    } else if (event.key === 'Enter' && onChoose !== undefined) choose()
    else return
    event.preventDefault()
  }
  const pointer = {
    onPointerDown: () => setFrom(onChoose === undefined ? null : at),
    onPointerUp: ({ button }: PointerEvent) => {
      if (button === 0) choose()
    },
    onMouseLeave: () => {
      setAt(null)
      setFrom(null)
    },
  }
  return { at, span: at === null ? null : spanOf(from ?? at, at), setAt, onKeyDown, pointer }
}

const [width, height] = [600, 120]

/** Bars over time with a sentence for those who do not see them, a table of the same, and arrow keys to read point by point. */
export function Chart({ title, sentence, moments, series, linkOf = (_, text) => text, onChoose }: ChartProps) {
  const [isTable, setTable] = useState(false)
  const last = moments.length - 1
  const { span, setAt, onKeyDown, pointer } = usePoint(last, onChoose)
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
          <div
            role="img"
            className={onChoose === undefined ? undefined : 'choosable'}
            aria-label={`${title}. ${sentence}`}
            tabIndex={0}
            onKeyDown={onKeyDown}
            {...pointer}
          >
            <Bars series={series} count={moments.length} span={span} onPoint={setAt} />
          </div>
          <p className="hint" role="status">
            {span === null ? `${moments[0] ?? ''} to ${moments[last] ?? ''}` : spanWords({ moments, series }, span)}
            {span !== null && onChoose !== undefined && '. Enter or a click narrows the range to it.'}
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

/** Returns the figures of a moment, and of several moments only their ends: not all figures can be summed. */
const spanWords = ({ moments, series }: Pick<ChartProps, 'moments' | 'series'>, { first, last }: Span): string =>
  first === last
    ? `${moments[first] ?? ''}: ${series.map((one) => `${one.name} ${figure(one, first)}`).join(', ')}`
    : `${moments[first] ?? ''} to the end of ${moments[last] ?? ''}`

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
  readonly span: Span | null
  readonly onPoint: (at: number) => void
}

const isIn = (span: Span | null, at: number): boolean => span !== null && at >= span.first && at <= span.last

function Bars({ series, count, span, onPoint }: BarsProps) {
  const highest = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0)
  const step = width / Math.max(count, 1)
  const tall = (value: number | null | undefined) => (highest === 0 ? 0 : ((value ?? 0) / highest) * (height - 4))
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" className="bars">
      {Array.from({ length: count }, (_, index) => (
        <g key={index} onMouseEnter={() => onPoint(index)}>
          <rect x={index * step} y={0} width={step} height={height} className={isIn(span, index) ? 'reach current' : 'reach'} />
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

const Table = ({ title, moments, series, linkOf }: Required<Omit<ChartProps, 'sentence' | 'onChoose'>>) => (
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
