import { run } from '../src/cli/run.ts'
import { createMakersProgram } from './program.ts'

await run(createMakersProgram())
