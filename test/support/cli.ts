import { spawnSync } from 'node:child_process'
import path from 'node:path'
import type { Command } from 'commander'
import { exitCodeFor } from '../../src/cli/failure.ts'
import { createMakersProgram } from '../../tools/program.ts'
import { nodeEnvironment } from './node-environment.ts'
import { programFile } from './program.ts'

/** The repository. */
export const root: string = path.resolve(import.meta.dirname, '../..')
const file = programFile('gatehouse')

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The environment besides PATH. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

const environment = (env: RunOptions['env']) => ({ ...nodeEnvironment, ...env })

/** `gatehouse` with these arguments, waited for; no other code of this process can run meanwhile. */
export function gatehouse(args: readonly string[], { env, ...options }: RunOptions = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
    env: environment(env),
    ...options,
  })
  return { status, stdout, stderr }
}

/** The same inside this process, which saves the second that a start takes: one at a time, with an environment and a console of its own. */
export function gatehouseHere(args: readonly string[], { env }: Pick<RunOptions, 'env'> = {}): Promise<Ran> {
  const run = before.then(() => runHere(args, environment(env)))
  before = run.catch(() => {})
  return run
}

let before: Promise<unknown> = Promise.resolve()

async function runHere(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const output = { stdout: '', stderr: '' }
  const own = { env: process.env, exitCode: process.exitCode, console: { ...console } }
  const write = (stream: 'stdout' | 'stderr') => (text: unknown) => void (output[stream] += `${String(text)}\n`)
  Object.assign(console, { log: write('stdout'), error: write('stderr') })
  process.env = env
  process.exitCode = undefined
  try {
    const program = createMakersProgram()
    for (const command of withSubcommands(program))
      command.configureOutput({ writeOut: (text) => (output.stdout += text), writeErr: (text) => (output.stderr += text) })
    await program.parseAsync([...args], { from: 'user' }).catch((thrown: unknown) => (process.exitCode = exitCodeFor(thrown)))
    return { status: exitCodeOf(process), ...output }
  } finally {
    Object.assign(console, own.console)
    process.env = own.env
    process.exitCode = own.exitCode
  }
}

const exitCodeOf = ({ exitCode }: NodeJS.Process) => Number(exitCode ?? 0)

/** A command and all below it. */
const withSubcommands = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(withSubcommands)]
