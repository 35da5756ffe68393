import { byHand } from './app/start/start-mode.ts'
import { serve } from './serve.ts'

process.exitCode = await serve(byHand)
process.exit()
