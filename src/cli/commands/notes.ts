import type { Command } from 'commander'
import { notes } from '../../release/notes.ts'
import { releasesBetween } from '../../release/table.ts'
import { readJump } from '../jump.ts'

/** `gatehouse notes <from> <to>`. */
export const addNotes = (program: Command): Command =>
  program
    .command('notes')
    .description('Tells what changes from one release to a later one, newest first; what needs care comes before.')
    .argument('<from>', 'the release that runs')
    .argument('<to>', 'the release to upgrade to')
    .option('--json', 'the records of the releases, as a JSON array')
    .addHelpText('after', '\nExample:\n  gatehouse notes 1.11.2 1.12.0')
    .action(function show(this: Command) {
      const { table, from, to } = readJump(this)
      const releases = releasesBetween(table, from, to)
      console.log(this.opts<{ json?: true }>().json ? JSON.stringify(releases, null, 2) : notes(releases))
    })
