// Every command block of docs/guide is run as its reader would run it, all documents on one installation, each in a shell of its own.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { documentBlocks } from '../../support/document-blocks.ts'
import { runBlocks } from '../../support/document-run.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { openStage, type DocumentStage } from '../../support/document-stage.ts'

const folder = path.resolve(import.meta.dirname, '../../../docs/guide')

let stage: DocumentStage
let provider: Emulator
test.before(async () => {
  ;[stage, provider] = await Promise.all([openStage({ bin: null, embedded: false }), startEmulator()])
})
test.after.always(async () => {
  await stage?.stop()
  await provider?.stop()
})

for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
  const blocks = documentBlocks(path.join(folder, name))
  if (blocks.length === 0) continue
  test.serial(`${name}: ${blocks.length} blocks`, async (t) => {
    const { code, output } = await runBlocks(blocks, { ...stage, env: { ...stage.env, PROVIDER_URL: provider.url } })
    t.is(code, 0, output.slice(-4000))
  })
}
