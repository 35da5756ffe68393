import type { Command } from 'commander'
import { answer } from '../answer.ts'
import type { Difference } from '../budgets/recount.ts'
import { explain } from '../command-help.ts'
import { addWait } from '../database.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'

interface Options {
  readonly repair?: true
  readonly json?: true
}

/** `gatehouse budget`. */
export function addBudget(program: Command): void {
  const budget = explain(program.command('budget').description('Looks after the counters of usage limits.'), {
    example: 'gatehouse budget doctor',
  })
  explain(addWait(budget.command('doctor')), {
    example: 'gatehouse budget doctor --repair',
    exits: { 1: 'a counter differs from the logs', ...databaseExits },
  })
    .description(
      'Counts again from the logs what keys, providers, workspaces and policies have used in this period, and lists the counters that differ. Budgets whose logs are no longer kept are left out.',
    )
    .option('--repair', 'set the counters that differ to the amounts in the logs; requests that are not in the logs yet are lost to them')
    .option('--json', 'an object of { budgets, left_out, differences: [{ counter, counts, counted, logged, repaired }] }')
    .action(async ({ repair, json }: Options, command: Command) => {
      const { withInstallation } = await import('../installation.ts')
      const { recount } = await import('../budgets/recount.ts')
      const found = await withInstallation(command, (opened) => recount(opened, repair ?? false))
      const lines = found.differences.map(describe)
      const leftOut = found.left_out === 0 ? '' : `; ${found.left_out} left out, whose logs are no longer all kept`
      answer(json, found, [...lines, `${found.budgets} budgets, ${lines.length} that differ from the logs${leftOut}.`].join('\n'))
      if (lines.length > 0 && repair !== true) process.exitCode = exitCodes.refused
    })
}

const describe = ({ counter, counts, counted, logged, repaired }: Difference): string => {
  const unit = counts === 'cost' ? '$' : ''
  return `${counter}: ${unit}${counted} counted, ${unit}${logged} in the logs${repaired ? '; repaired' : ''}`
}
