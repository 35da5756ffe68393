import { InvalidArgumentError } from 'commander'
import { duration } from '../config/index.ts'

/** Reads an option such as `30s`, as settings are read; milliseconds. */
export function readDuration(text: string): number {
  try {
    return duration(0).parse(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

/** The same for a duration above zero. */
export function readLength(text: string): number {
  const milliseconds = readDuration(text)
  if (milliseconds > 0) return milliseconds
  throw new InvalidArgumentError('it must be longer than 0, such as 15s')
}
