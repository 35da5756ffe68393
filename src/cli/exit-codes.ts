/** The exit codes of all commands; those above 2 are the numbers of sysexits.h. */
export const exitCodes = {
  done: 0,
  /** A check found something, or the request was refused or failed. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The database, or the registry, cannot be reached. */
  unavailable: 69,
  /** It took too long; trying again may help. */
  timeout: 75,
  /** A setting is wrong, or this release must not run here. */
  configuration: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The meaning of exit codes for one command, for its help. */
export type Exits = Readonly<Partial<Record<ExitCode, string>>>

/** Those of every command. */
const usual: Exits = { 0: 'done, without faults', 2: 'the command line is wrong' }

/** Those of every command that reads the settings and opens the database. */
export const databaseExits: Exits = { 69: 'the database cannot be reached', 78: 'a setting is wrong, or this release must not run here' }

/** The last lines of a help text. */
export const describeExits = (exits: Exits): string =>
  ['Exit codes:', ...Object.entries({ ...usual, ...exits }).map(([code, meaning]) => `  ${code.padEnd(2)}  ${meaning}`)].join('\n')
