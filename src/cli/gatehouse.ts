import { exitCodeFor } from './failure.ts'
import { createProgram } from './program.ts'

// The reader of the output may have closed it, as `head` does: the command goes on without one.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = exitCodeFor(error)
}
