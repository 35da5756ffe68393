import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DistributionFault } from '../../../src/distribution/fault.ts'

/** A program to run, and its purpose. */
export interface Step {
  readonly title: string
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd?: string
  /** Added to the variables of this process. */
  readonly variables?: Readonly<Record<string, string>>
}

const keptBytes = 16 * 1024

/** Runs a program to its end and returns its standard output. Throws DistributionFault `build_failed` with the end of its standard error. */
export async function runStep({ title, command: [program, ...args], cwd, variables }: Step): Promise<string> {
  const assignments = Object.entries(variables ?? {}).map(([name, value]) => `${name}=${value}`)
  // `env` adds to the environment, which only src/config reads here.
  const [file, ...rest] = assignments.length === 0 ? [program, ...args] : ['env', ...assignments, program, ...args]
  const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'], ...(cwd !== undefined && { cwd }) })
  let [output, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    said = `${said}${text}`.slice(-keptBytes)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-keptBytes)))
  try {
    await once(child, 'close')
  } catch (error) {
    throw new DistributionFault('build_failed', `${title}: ${program} cannot be run`, { cause: error })
  }
  if (child.exitCode === 0) return output
  throw new DistributionFault('build_failed', `${title}: ${program} ended with ${child.exitCode ?? child.signalCode}\n${said.trimEnd()}`)
}

/** Returns true if a program can be run and ends well. */
export const runs = (...command: Step['command']): Promise<boolean> =>
  runStep({ title: 'looking for tools', command }).then(
    () => true,
    () => false,
  )
