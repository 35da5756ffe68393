import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** How to start a process of the benchmark. */
export interface Launch {
  readonly name: string
  readonly command: readonly string[]
  /** The cores it may run on; all when the machine has no taskset. */
  readonly cores: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The destination of its output. */
  readonly folder: string
  /** Whether it talks to us: reports its port, ends when we end. */
  readonly channel?: boolean
}

export interface Running {
  readonly child: ChildProcess
  readonly pid: number
  stop(): Promise<void>
}

const onPath = (name: string): boolean => (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)))
export const hasTaskset = onPath('taskset')
export const hasNginx = onPath('nginx')

/** Starts a process with its output in a file. It is stopped by SIGTERM, and by SIGKILL when that does not help. */
export function launch({ name, command, cores, cwd, env = {}, folder, channel = false }: Launch): Running {
  const output = openSync(join(folder, `${name}.log`), 'a')
  const [program = '', ...rest] = hasTaskset ? ['taskset', '-c', cores, ...command] : command
  const child = spawn(program, rest, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', output, output, ...(channel ? (['ipc'] as const) : [])],
  })
  return {
    child,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await Promise.race([gone, pause(8000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))])
      await gone
    },
  }
}

/** The first message that a child sends: `{ port }`. */
export async function portOf({ child }: Running): Promise<number> {
  const exited = once(child, 'exit').then(() => Promise.reject(new Error('the process ended before it listened')))
  const [message] = (await Promise.race([once(child, 'message'), exited])) as [{ port: number }]
  return message.port
}

/** Asks until the answer is 200; gives the milliseconds it took. */
export async function waitUntilServing(url: string, running: Running, timeoutMs = 60_000): Promise<number> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < timeoutMs) {
    if (running.child.exitCode !== null) throw new Error(`the process ended with ${running.child.exitCode}`)
    const status = await fetch(url).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
    if (status === 200) return performance.now() - startedAt
    await pause(5)
  }
  throw new Error(`${url} did not answer 200 within ${timeoutMs} ms`)
}

const ticksPerSecond = 100

const fieldsOf = (pid: number): readonly string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** A process and all its descendants. */
export function treeOf(root: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      parents.set(Number(name), Number(fieldsOf(Number(name))[1]))
    } catch {
      // Ended meanwhile.
    }
  }
  const within = (pid: number | undefined): boolean => pid !== undefined && (pid === root || (pid > 1 && within(parents.get(pid))))
  return [...parents.keys()].filter((pid) => within(pid))
}

/** CPU time that a process, its threads and its descendants have used, in microseconds. Ended children count with their parent. */
export function cpuMicros(root: number): number {
  let ticks = 0
  for (const pid of treeOf(root)) {
    try {
      const fields = fieldsOf(pid)
      ticks += [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
    } catch {
      // Ended meanwhile: its time is in the parent's next reading.
    }
  }
  return (ticks * 1e6) / ticksPerSecond
}

/** CPU time that each thread of a process has used, in microseconds, by the thread's number and name. */
export function cpuByThread(pid: number): ReadonlyMap<string, number> {
  const threads = new Map<string, number>()
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    threads.set(
      `${id} ${text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))}`,
      ((Number(fields[11]) + Number(fields[12])) * 1e6) / ticksPerSecond,
    )
  }
  return threads
}

/** Resident memory of a process and its descendants, in megabytes. */
export function residentMegabytes(root: number): number {
  const kilobytes = treeOf(root).map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))
  return kilobytes.reduce((sum, size) => sum + size, 0) / 1024
}
