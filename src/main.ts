import { interactive } from './app/start/start-mode.ts'
import { serve } from './serve.ts'

process.exitCode = await serve({ ...interactive, buildsConsole: process.argv.includes('--with-console') })
process.exit()
