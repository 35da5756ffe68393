import type { Command } from 'commander'
import { explain } from '../explain.ts'

/** `gatehouse serve`. */
export const addServe = (program: Command): Command =>
  explain(program.command('serve').description('Serves the gateway and its control plane, until SIGTERM or SIGINT.'), {
    example: 'gatehouse serve',
    exits: { 1: 'the start failed, or a fault ended the process', 78: 'a setting is wrong, or this release must not run here' },
  }).action(async () => {
    // The code of the whole product is loaded for this command alone.
    const { serve } = await import('../../serve.ts')
    process.exitCode = await serve()
    process.exit()
  })
