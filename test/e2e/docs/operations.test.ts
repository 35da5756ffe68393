// Every command block of docs/operations is run as its reader would run it, one block after the other, in one shell a document.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { provideHelm } from '../../../scripts/helm.ts'
import { debianPostgres } from '../../support/debian-postgres.ts'
import { documentBlocks, type DocumentBlock } from '../../support/document-blocks.ts'
import { stageBundles } from '../../support/document-bundles.ts'
import { runBlocks } from '../../support/document-run.ts'
import { findTool, openStage } from '../../support/document-stage.ts'

const folder = path.resolve(import.meta.dirname, '../../../docs/operations')
const bin = debianPostgres()
await provideHelm()

/** The release at which the upgrade of the documents begins. */
const formerRelease = '1.11.2'

/** The needs of a block, and why one is not here; null: it is. Any other word is the name of a program. */
const present: Readonly<Record<string, string | null>> = {
  server: null,
  earlier: null,
  embedded: null,
  bundle: null,
  build: 'a release takes a minute to build, which "npm run image:check" does',
  pg_dump: bin === null ? 'this machine has no PostgreSQL of its own, with a pg_dump of its version' : null,
  cluster: process.env['GATEHOUSE_TEST_KUBECONFIG'] === undefined ? 'GATEHOUSE_TEST_KUBECONFIG names no Kubernetes' : null,
}

const lacks = ({ needs }: DocumentBlock) =>
  needs.map((need) => (need in present ? present[need] : findTool(need) === null ? `${need} is not installed` : null)).find((why) => why)

for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
  const blocks = documentBlocks(path.join(folder, name))
  for (const block of blocks) {
    const why = lacks(block)
    if (why) test.skip(`SKIPPED ${name}:${block.line}: ${why}`, (t) => t.pass())
  }
  const runnable = blocks.filter((block) => !lacks(block))
  const [embedded, others] = [true, false].map((wanted) => runnable.filter(({ needs }) => needs.includes('embedded') === wanted))
  if (others && others.length > 0) runs(name, others, false)
  if (embedded && embedded.length > 0) runs(`${name} with the embedded PostgreSQL`, embedded, true)
}

function runs(title: string, blocks: readonly DocumentBlock[], embedded: boolean): void {
  test.serial(`${title}: ${blocks.length} blocks`, async (t) => {
    const anyNeeds = (need: string) => blocks.some(({ needs }) => needs.includes(need))
    const earlier = anyNeeds('earlier') ? formerRelease : null
    const stage = await openStage({ bin: anyNeeds('pg_dump') ? bin : null, embedded, earlier })
    t.teardown(() => stage.stop())
    if (anyNeeds('bundle')) Object.assign(stage.env, await stageBundles(t, stage.folder))
    const { code, output, printed } = await runBlocks(blocks, stage)
    t.is(code, 0, output.slice(-4000))
    for (const { block, text } of printed) t.is(text, block.output ?? '', `${title}, line ${block.line}`)
    t.is(printed.length, blocks.filter((block) => block.output !== null).length)
  })
}
