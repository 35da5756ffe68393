import { interactive } from './app/start/start-mode.ts'
import { serve } from './serve.ts'

process.exitCode = await serve(interactive)
process.exit()
