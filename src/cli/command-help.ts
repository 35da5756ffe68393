import type { Command } from 'commander'
import { describeExits, type Exits } from './exit-codes.ts'

/** The end of a command's help. */
export interface Explanation {
  /** A command line that works, from `gatehouse` on. */
  readonly example: string
  /** The codes that it can end with, besides 0 and 2. */
  readonly exits?: Exits
}

/** Adds an example and the exit codes to the help of a command, and returns the command. */
export const explain = (command: Command, { example, exits = {} }: Explanation): Command =>
  command.addHelpText('after', `\nExample:\n  ${example}\n\n${describeExits(exits)}`)
