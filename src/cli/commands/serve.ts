import type { Command } from 'commander'
import { explain } from '../command-help.ts'

/** `gatehouse serve`. */
export const addServe = (program: Command): Command =>
  explain(program.command('serve'), {
    example: 'gatehouse serve --migrate',
    exits: { 1: 'the start failed, or a fault ended the process', 78: 'a setting is wrong, or this release must not run here' },
  })
    .description('Serves the gateway and its control plane, until SIGTERM or SIGINT; not ready until "gatehouse migrate" is done.')
    .option('--migrate', 'bring the schema up first, as it is always done with the embedded database')
    .action(async ({ migrate = false }: { migrate?: boolean }) => {
      // The code of the whole product is loaded for this command alone.
      const { serve } = await import('../../serve.ts')
      process.exitCode = await serve({ migrates: migrate, deployed: true })
      process.exit()
    })
