import { pino, type Logger } from 'pino'
import { z } from 'zod'

const Line = z.looseObject({ msg: z.string().default('') })

/** A log for people: the product's log lines of a command, as plain lines on standard error. */
export const progressLog = (): Logger => pino({ base: null, timestamp: false }, { write: (line) => console.error(toText(line)) })

function toText(line: string): string {
  const { msg, level: _, ...fields } = Line.parse(JSON.parse(line))
  const details = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [msg, ...details].join('  ')
}
