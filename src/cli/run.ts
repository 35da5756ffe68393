import type { Command } from 'commander'
import { exitCodeFor } from './failure.ts'

/** Runs the command that the arguments of this process name, and sets the exit code. */
export async function run(program: Command): Promise<void> {
  // The reader of the output may have closed it, as `head` does: the command goes on without one.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  try {
    await program.parseAsync()
  } catch (error) {
    process.exitCode = exitCodeFor(error)
  }
}
