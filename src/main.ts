import { interactive } from './app/start/start-mode.ts'
import { serve } from './serve.ts'

const buildsConsole = process.argv.includes('--with-console')
const openDemo = process.argv.includes('--demo') ? (await import('./demo/demo.ts')).openDemo : undefined
process.exitCode = await serve({ ...interactive, buildsConsole }, openDemo)
process.exit()
