import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { root } from '../../test/support/cli.ts'
import { startGatehouse, type Gatehouse, type GatehouseOptions } from '../../test/support/process.ts'
import type { Build } from './build.ts'

/** How a process of the command line ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly env: Readonly<Record<string, string>>
  /** The folder of another build. */
  readonly build?: string
  /** A module that is loaded before everything else. */
  readonly preload?: string
  /** True if the command is one of those that build releases; builds that only run have none of them. */
  readonly makes?: boolean
}

/**
 * Starting costs half with the code that an earlier process has compiled. Every build has the modules of this checkout, and with them one place for
 * compiled code; the files of all builds have the same names from there, so that only the changes of a build are compiled again.
 */
const quickStart = (folder: string) => ({
  NODE_COMPILE_CACHE: path.join(folder, 'node_modules/.cache/compiled-builds'),
  NODE_COMPILE_CACHE_PORTABLE: '1',
})

/** Runs `gatehouse` as a process of its own, beside all other work. */
export async function runCommand(args: readonly string[], { env, build = root, preload, makes = false }: CommandOptions): Promise<Ended> {
  const imports = preload === undefined ? [] : ['--import', preload]
  const child = spawn(process.execPath, [...imports, path.join(build, makes ? 'tools/gatehouse.ts' : 'src/cli/gatehouse.ts'), ...args], {
    env: { PATH: process.env['PATH'] ?? '', NODE_NO_WARNINGS: '1', ...quickStart(build), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (output[name] += chunk.toString()))
  await once(child, 'close')
  return { code: child.exitCode, signal: child.signalCode, ...output }
}

/** Runs a command of a build that must end well; returns its output. */
export async function mustRun({ folder }: Build, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { code, signal, stdout, stderr } = await runCommand(args, { env, build: folder })
  if (code !== 0) throw new Error(`gatehouse ${args.join(' ')} ended with ${code ?? signal}: ${stdout}${stderr}`)
  return stdout
}

/** Rehearsals fill a machine for hours, and slowness there is not their subject. */
const readyWithinMs = 300_000

/** Serves a build as a container does, with more arguments of `serve` where some are given. */
export const serve = ({ folder }: Build, { args = [], ...options }: GatehouseOptions & { args?: readonly string[] }): Promise<Gatehouse> =>
  startGatehouse({
    readyWithinMs,
    ...options,
    env: { ...quickStart(folder), ...options.env },
    program: { folder, args: ['src/cli/gatehouse.ts', 'serve', ...args] },
  })
