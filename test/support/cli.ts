import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'

/** The repository. */
export const root: string = path.resolve(import.meta.dirname, '../..')
const program = path.join(root, 'src/cli/gatehouse.ts')

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

const environment = (env: RunOptions['env']) => ({ PATH: process.env['PATH'] ?? '', NODE_NO_WARNINGS: '1', ...env })

/** `gatehouse` with these arguments, waited for; nothing else of this process can go on meanwhile. */
export function gatehouse(args: readonly string[], { env, ...options }: RunOptions = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: environment(env),
    ...options,
  })
  return { status, stdout, stderr }
}

/** The same beside this process, for tests that serve what the command asks for. */
export async function gatehouseBeside(args: readonly string[], { env, cwd, input }: RunOptions = {}): Promise<Ran> {
  const child = spawn(process.execPath, [program, ...args], { env: environment(env), ...(cwd !== undefined && { cwd }) })
  child.stdin.end(input ?? '')
  const [stdout, stderr, status] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    new Promise<number | null>((resolve) => void child.once('close', resolve)),
  ])
  return { status, stdout: stdout.join(''), stderr: stderr.join('') }
}
