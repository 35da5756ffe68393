import type { Command } from 'commander'
import { notes } from '../../release/notes.ts'
import { releasesBetween } from '../../release/table.ts'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { readReleasePair } from '../release-pair.ts'

/** `gatehouse notes <from> <to>`. */
export const addNotes = (program: Command): Command =>
  explain(program.command('notes'), { example: 'gatehouse notes 1.11.2 1.12.0', exits: { 1: 'a release record is faulty' } })
    .description('Lists the changes from one release to a later one, newest first, after those that need care.')
    .argument('<from>', 'the release that runs')
    .argument('<to>', 'the release to upgrade to')
    .option('--json', 'the records of the releases, as a JSON array')
    .action(async function show(this: Command) {
      const { table, from, to } = readReleasePair(this)
      const { readCode } = await import('../own-code.ts')
      const releases = releasesBetween(table, from, to)
      answer(this.opts<{ json?: true }>().json, releases, notes(releases, readCode()))
    })
