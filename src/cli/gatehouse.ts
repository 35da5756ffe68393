import { exitCodeFor } from './failure.ts'
import { createProgram } from './program.ts'

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = exitCodeFor(error)
}
