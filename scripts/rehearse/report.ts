import type { PartResult } from './parts.ts'
import type { Outcome } from './upgrade.ts'

/** A part that was run. */
export interface Report extends PartResult {
  readonly name: string
  readonly title: string
  readonly seconds: number
}

const mostFaults = 20

/** One part, for the watching person. */
export const describe = ({ did, faults, seconds }: Report): string =>
  [
    `${faults.length === 0 ? 'ok' : 'FAILED'} - ${did}, ${seconds.toFixed(1)} s`,
    ...faults.slice(0, mostFaults).map((fault) => `  ${fault}`),
    ...(faults.length > mostFaults ? [`  and ${faults.length - mostFaults} more`] : []),
  ].join('\n')

/** Everything, as Markdown. */
export function summary(reports: readonly Report[], releases: readonly string[]): string {
  const rows = reports.map(({ title, did, faults, seconds }) => [
    title,
    did,
    faults.length === 0 ? 'passed' : `${faults.length} faults`,
    seconds.toFixed(1),
  ])
  const outcomes = reports.flatMap((report) => report.outcomes ?? [])
  const failed = outcomes.filter(({ faults }) => faults.length > 0).length
  return [
    table(['part', 'what was done', 'result', 'seconds'], rows),
    ...(outcomes.length === 0 ? [] : [`${outcomes.length} upgrades run, ${failed} failed.`, showAll(outcomes, releases)]),
    ...reports.flatMap(({ title, faults }) => (faults.length === 0 ? [] : [`## ${title}`, faults.map((fault) => `- ${fault}`).join('\n')])),
  ].join('\n\n')
}

/** Few as a line, all as a table. */
const showAll = (outcomes: readonly Outcome[], releases: readonly string[]) =>
  outcomes.length <= 2 * releases.length
    ? outcomes.map((outcome) => `${titleOf(outcome)} ${resultOf(outcome)}`).join(', ')
    : matrix(outcomes, releases)

/** A table of all upgrades, a row for each release that they begin at. */
function matrix(outcomes: readonly Outcome[], releases: readonly string[]): string {
  const results = new Map(outcomes.map((outcome) => [titleOf(outcome), resultOf(outcome)]))
  const [, ...targets] = releases
  const rows = releases.slice(0, -1).map((from, at) => {
    const cells = targets.map((to, column) => (column < at ? '' : (results.get(titleOf({ from, to })) ?? 'not run')))
    return [from].concat(cells)
  })
  return table(['from \\ to', ...targets], rows)
}

const titleOf = ({ from, to }: Pick<Outcome, 'from' | 'to'>) => `${from} to ${to}`

const resultOf = ({ faults }: Outcome) => (faults.length === 0 ? '✓' : '✗')

/** The faults, one line each. */
export const failures = (outcomes: readonly Outcome[]): readonly string[] =>
  outcomes.flatMap(({ from, to, faults }) => faults.map((fault) => `${from} -> ${to}: ${fault}`))

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
