import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { nodeEnvironment } from './node-environment.ts'
import { programFile } from './program.ts'

/** The product as a process of its own, started as `npm start` starts it. */
export interface ProductProcess {
  readonly child: ChildProcess
  /** Everything on stdout and stderr so far. */
  readonly output: () => string
  /** Resolves with the first match of the pattern in the output; rejects when the process ends first. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with the exit code. */
  exit(): Promise<number | null>
}

/** Starts the server, with flags, or the command line with arguments, with these settings and none of our own environment but PATH and HOME. */
export function startProduct(
  env: Readonly<Record<string, string>>,
  command: readonly string[] | null = null,
  flags: readonly string[] = [],
): ProductProcess {
  const { HOME = '' } = process.env
  // One pipe for both, so that the order of the lines is the one in which they were written.
  const child = spawn(
    'sh',
    ['-c', 'exec "$0" "$@" 2>&1', process.execPath, programFile(command === null ? 'main' : 'gatehouse'), ...(command ?? flags)],
    {
      env: { ...nodeEnvironment, HOME, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  let text = ''
  const waiting = new Set<() => void>()
  const note = (chunk: Buffer) => {
    text += chunk.toString()
    for (const look of waiting) look()
  }
  child.stdout.on('data', note)
  const exited = once(child, 'close')
  return {
    child,
    output: () => text,
    until(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
      const look = () => {
        const match = pattern.exec(text)
        if (match !== null) resolve(match)
      }
      waiting.add(look)
      look()
      void exited.then(() => reject(new Error(`the process ended before ${pattern}:\n${text}`)))
      return promise.finally(() => waiting.delete(look))
    },
    async exit() {
      const [code] = await exited
      return code as number | null
    },
  }
}
