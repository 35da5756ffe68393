import test from 'ava'
import { readLineOf } from '../../../../src/gateway/managed/read-line.ts'

test('long lines of a batch are read one after the other, and other work goes on between them', async (t) => {
  const bytes = Buffer.from(JSON.stringify({ custom_id: 'a', body: { x: 'x'.repeat(1024 * 1024) } }))
  const files = {
    async *read() {
      yield bytes
    },
  }
  let [turn, isOver] = [0, false]
  const count = (): void => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const batch = { inputFileId: 'f', organisationId: 'o', workspaceId: null }
  const turns = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { x } = await readLineOf(files, batch, { start: 0, bytes: bytes.length })
      return typeof x === 'string' ? turn : 0
    }),
  )
  isOver = true
  t.false(turns.includes(0))
  t.is(new Set(turns).size, turns.length)
})
