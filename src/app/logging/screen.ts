import type { DestinationStream } from 'pino'
import { z } from 'zod'

const Line = z.looseObject({ level: z.string(), msg: z.string().default('') })

/** The steps of a start and an end, by the message that the log has for each. */
const steps = new Set(['starting', 'embedded PostgreSQL is up', 'database was migrated', 'listening', 'ready', 'draining', 'drained'])

/** What a person at the terminal sees when the log goes to a file: one plain line a step, and everything that is wrong. */
export const screen: DestinationStream = {
  write(line) {
    const { level, msg } = Line.parse(JSON.parse(line))
    if (level !== 'info') process.stdout.write(`${level}: ${msg}\n`)
    else if (steps.has(msg)) process.stdout.write(`- ${msg}\n`)
  },
}
