import { readFileSync } from 'node:fs'
import path from 'node:path'

const results = path.resolve(import.meta.dirname, '../../bench/RESULTS.md')

const costColumn = 'CPU µs/request'

type Row = Readonly<Record<string, string>>

/** Returns the tables of a page in Markdown, each as its rows by column name. */
function tablesOf(page: string): readonly (readonly Row[])[] {
  return page.split(/\n\n+/).flatMap((block) => {
    const [head, rule, ...rows] = block.trim().split('\n').map(cellsOf)
    if (head === undefined || rule?.every((cell) => /^:?-+:?$/.test(cell)) !== true) return []
    return [rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])))]
  })
}

const cellsOf = (line: string): readonly string[] =>
  line
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())

/** The figures of README: its label, and the column of the benchmark with its unit. Two columns stand in one cell. */
const shown: readonly (readonly [label: string, columns: readonly string[], unit: string])[] = [
  ['requests a second, 32 connections', ['requests/s, 32 conn.'], ''],
  ['processor time of a request', [costColumn], ' µs'],
  ['added latency, p50 / p99', ['added p50 ms', 'added p99 ms'], ' ms'],
  ['added time to the first token of a stream', ['SSE added first token ms'], ' ms'],
  ['memory, idle / with 1,000 open streams', ['MB idle', 'MB, 1,000 streams'], ' MB'],
  ['start, with the database up', ['cold start s'], ' s'],
]

/** Returns the part `figures` of README, from the last recorded benchmark. Throws when a figure is missing there. */
export function figureParts(): Readonly<Record<string, string>> {
  const [subjects = [], targets = []] = tablesOf(readFileSync(results, 'utf8'))
  const subject = (letter: string) => subjects.find((row) => row['']?.startsWith(`(${letter})`)) ?? fail(`row (${letter})`)
  const [bare, ours, portkey, liteLlm] = [subject('b'), subject('c'), subject('d'), subject('e')]
  const missed = targets.filter((row) => row['reached'] === 'no').length
  const ratio = (Number(ours[costColumn]) / Number(bare[costColumn])).toFixed(1)
  const rows = shown.map(([label, columns, unit]) => {
    const cell = (row: Row) => `${columns.map((column) => amount(row, column)).join(' / ')}${unit}`
    return `| ${label} | ${cell(ours)} | ${cell(bare)} |`
  })
  return {
    figures: [
      '',
      '| | Gatehouse | bare `node:http` proxy |',
      '| --- | ---: | ---: |',
      ...rows,
      '',
      `The same run measured ${nameOf(portkey)} at ${amount(portkey, costColumn)} µs a request, without keys or logs, and ${nameOf(liteLlm)} at ${amount(liteLlm, costColumn)} µs.`,
      `Gatehouse needs ${ratio} times the processor time of the bare proxy and misses ${missed} of its ${targets.length} targets.`,
      '',
    ].join('\n'),
  }
}

/** Returns the name of a row without its letter and its comment. */
const nameOf = (row: Row): string => (row[''] ?? '').replace(/^\(\w\) /, '').replace(/,.*$/, '')

const amount = (row: Row, column: string): string => {
  const value = Number(row[column])
  return Number.isFinite(value) ? value.toLocaleString('en-US', { maximumFractionDigits: 2 }) : fail(column)
}

const fail = (missing: string): never => {
  throw new Error(`bench/RESULTS.md has no ${missing}`)
}
