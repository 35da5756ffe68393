import { epochMs, pointsOf, type Draw, type GraphSource } from './series.ts'
import { metadataSource, userCells, userSource } from './usage-source.ts'

const registers = 4096
const alpha = 0.7213 / (1 + 1.079 / registers)

interface Sketch {
  readonly at: number | null
  /** The registers that hold something, and the sum of 2^-rank over them. */
  readonly filled: number
  readonly sum: number
}

/** Estimates how many there are, mostly within 1.6 %; small numbers are near exact. */
function estimate({ filled, sum }: Pick<Sketch, 'filled' | 'sum'>): number {
  const empty = registers - filled
  const raw = (alpha * registers ** 2) / (empty + sum)
  return Math.round(raw <= 2.5 * registers && empty > 0 ? registers * Math.log(registers / empty) : raw)
}

/** Counts the different users of each step, and of all the time. */
export async function countUsers({ em, usage, grid, logsFrom }: GraphSource): Promise<(at: number | null) => number> {
  const { sql, values } = await userCells(em, usage, logsFrom)
  const sketches = await em.execute<Sketch[]>(
    `WITH highest AS MATERIALIZED (
       SELECT ${grid.beginOf('l.bucket')} AS at, l.cell >> 32 AS register, max(l.cell) AS cell FROM ${sql} GROUP BY 1, 2
     )
     SELECT ${epochMs('at')} AS at, count(*)::float8 AS filled, sum(2 ^ -(cell & 4294967295))::float8 AS sum
       FROM (SELECT at, cell FROM highest UNION ALL SELECT NULL, max(cell) FROM highest GROUP BY register) r GROUP BY r.at`,
    [...values],
  )
  const byTime = new Map(sketches.map((sketch) => [sketch.at, estimate(sketch)]))
  return (at) => byTime.get(at) ?? 0
}

/** Counts the requests that name a user, of each step, and of all the time. */
async function countRequests({ em, usage, grid, now }: GraphSource): Promise<(at: number | null) => number> {
  const summed = usage.step === 'day' ? await userSource(em, usage, now) : null
  const source = summed?.source(usage.every) ?? metadataSource(usage, '_user')
  const step = grid.beginOf('l.bucket')
  const rows = await em.execute<{ at: number; total: number }[]>(
    `SELECT ${epochMs(step)} AS at, sum(l.requests)::float8 AS total FROM ${source.sql} GROUP BY ${step}`,
    [...source.values],
  )
  const byTime = new Map(rows.map(({ at, total }) => [at, total]))
  const all = [...byTime.values()].reduce((sum, total) => sum + total, 0)
  return (at) => (at === null ? all : (byTime.get(at) ?? 0))
}

export const drawUsers: Draw = async (drawing) => {
  const users = await countUsers(drawing)
  return { summary: { total: users(null) }, data_points: pointsOf(drawing.grid, (at) => ({ total: users(at) })) }
}

export const drawRequestsOfUsers: Draw = async (drawing) => {
  const users = await countUsers(drawing)
  const requests = await countRequests(drawing)
  const mean = (at: number | null) => (users(at) === 0 ? null : requests(at) / users(at))
  return {
    summary: { total: requests(null), unique: users(null), avg: mean(null) },
    data_points: pointsOf(drawing.grid, (at) => ({ avg: mean(at) })),
  }
}
