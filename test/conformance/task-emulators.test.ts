import test from 'ava'
import { countsStrictly } from '../support/dialects/strict-counts.ts'
import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'
import type { Received } from '../support/emulator/emulator.ts'
import { areas } from './tasks/index.ts'
import { unproven, vendorProofs } from './tasks/vendors/index.ts'

/**
 * Each emulator of work that is no conversation is proven by its vendor's own client: it takes that client's requests, and the client reads its
 * answer.
 */
let emulator: Emulator

test.before(async () => {
  emulator = await startEmulator()
})
test.after.always(() => emulator?.stop())
test.beforeEach(() => emulator.reset())

for (const [name, area] of Object.entries(areas)) {
  const serve = (received: Received) => (name === 'counts' ? countsStrictly(received, 7) : area.serve(received))
  for (const [provider, proofs] of Object.entries(vendorProofs[name] ?? {}))
    for (const { title, ask, said } of proofs)
      test.serial(`${name} of ${provider}: ${title}`, async (t) => {
        emulator.script({ behaviour: serve })
        t.deepEqual(await ask(emulator.origin), said)
      })

  test(`every vendor of ${name} has a proof, or a reason why it has none`, (t) => {
    const proven = Object.keys(vendorProofs[name] ?? {})
    for (const id of Object.keys(area.providers)) t.not(proven.includes(id), `${name}/${id}` in unproven, id)
    for (const id of proven) t.true(Object.hasOwn(area.providers, id), id)
  })
}
