import type { Command } from 'commander'
import { upgradePath, type Hop } from '../../release/path.ts'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { readReleasePair } from '../release-pair.ts'

/** `gatehouse path <from> <to>`. */
export const addPath = (program: Command): Command =>
  explain(program.command('path'), { example: 'gatehouse path 1.3.0 1.12.0 --no-volume', exits: { 1: 'a release record is faulty' } })
    .description('Lists the upgrades that lead from one release to a later one, with the chart of each.')
    .argument('<from>', 'the release that runs')
    .argument('<to>', 'the release to reach')
    .option('--no-volume', 'the installation keeps no files on a volume')
    .option('--json', 'the upgrades, as a JSON array')
    .action(function show(this: Command) {
      const { table, ...jump } = readReleasePair(this)
      const { json, volume } = this.opts<{ json?: true; volume: boolean }>()
      const hops = upgradePath(table, jump, { volume })
      answer(json, hops, describe(jump.from, hops))
    })

const describe = (from: string, hops: readonly Hop[]) =>
  hops.length === 0 ? `${from} is reached already.` : [[from, ...hops.map(title)].join(' -> '), ...hops.flatMap(details)].join('\n')

const title = ({ version, chart }: Hop) => `${version} (${chart ?? 'no chart'})`

const details = ({ version, because, breaking, backfills }: Hop) =>
  [
    ...breaking.map(({ id, check, fix }) => `breaking ${id}: ${fix} (preflight check: ${check})`),
    ...because.map((reason) => `halt here: ${reason}`),
    ...backfills.map((id) => `wait for the backfill ${id}`),
  ].map((line) => `  ${version}  ${line}`)
