import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

/** A running postmaster, as described by its pid file. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
}

/** Returns true if a process of this id exists, under any owner. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The postmaster of a data folder, when one runs, started by any process. */
export async function findPostmaster(dataFolder: string): Promise<Postmaster | null> {
  const file = path.join(dataFolder, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => '')
  const [pid = 0, , , port = 0] = text.split('\n').map(Number)
  if (!(pid > 0) || !isAlive(pid)) return null
  if (!(await serves(pid, dataFolder))) {
    await disown(file, text)
    return null
  }
  return port > 0 ? { pid, port } : null
}

/** Process ids are reused, in containers at once: the command line shows whether this one is ours. */
async function serves(pid: number, dataFolder: string): Promise<boolean> {
  const commandLine = process.platform === 'linux' ? readFile(`/proc/${pid}/cmdline`, 'utf8') : listProcess(pid)
  return (await commandLine.catch(() => '')).includes(dataFolder)
}

const listProcess = async (pid: number) => (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout

/** Not removed: PostgreSQL needs the rest of the file to see that no orphan of the dead postmaster still writes to the data. */
async function disown(file: string, text: string): Promise<void> {
  const impossiblePid = '2147483646'
  await writeFile(file, text.replace(/^\d+/, impossiblePid))
}

/** Resolves when the process is gone; false when it still lives after the limit. */
export async function waitForExit(pid: number, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs
  while (isAlive(pid)) {
    if (performance.now() > end) return false
    await delay(20)
  }
  return true
}
