import { exitCodeFor } from './failure.ts'
import { createProgram } from './program.ts'

// Whoever reads the output may have seen enough, as `head` has: the command goes on without them.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = exitCodeFor(error)
}
