import type { DestinationStream } from 'pino'
import { z } from 'zod'

const Line = z.looseObject({
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional().catch(undefined),
})

/** The steps of a start and an end, by the message that the log has for each. */
const steps = new Set(['starting', 'embedded PostgreSQL is up', 'database was migrated', 'listening', 'ready', 'draining', 'drained'])

/** A message may quote a host, which must not steer the terminal. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 500)

/** The output for a person at the terminal when the log goes to a file: one plain line per step, and every problem. */
export const screen: DestinationStream = {
  write(line) {
    const { level, msg, err } = Line.parse(JSON.parse(line))
    if (level !== 'info') process.stdout.write(`${level}: ${msg}${err === undefined ? '' : `: ${plain(err.message)}`}\n`)
    else if (steps.has(msg)) process.stdout.write(`- ${msg}\n`)
  },
}
