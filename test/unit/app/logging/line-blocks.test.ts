import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { openLineBlocks } from '../../../../src/app/logging/line-blocks.ts'

function openFile(): { readonly fd: number; readonly text: () => string } {
  const path = join(mkdtempSync(join(tmpdir(), 'gatehouse-lines-')), 'log')
  return { fd: openSync(path, 'a'), text: () => readFileSync(path, 'utf8') }
}

test('every line arrives whole, once and in order', async (t) => {
  const { fd, text } = openFile()
  const blocks = openLineBlocks({ fd, blockBytes: 1000, everyMs: 100_000 })
  const lines = Array.from({ length: 5000 }, (_, at) => `line ${at} é${'x'.repeat(at % 50)}\n`)
  for (const [at, line] of lines.entries()) {
    blocks.write(line)
    if (at % 700 === 0) await blocks.flush()
  }
  await blocks.flush()
  t.is(text(), lines.join(''))
})

test('a short line does not wait for a full block', async (t) => {
  const { fd, text } = openFile()
  openLineBlocks({ fd, everyMs: 20 }).write('alone\n')
  for (let attempt = 0; attempt < 100 && text() === ''; attempt++) await new Promise((resolve) => setTimeout(resolve, 20))
  t.is(text(), 'alone\n')
})

test('what waits at the end of the process is written at once', (t) => {
  const { fd, text } = openFile()
  const blocks = openLineBlocks({ fd, everyMs: 100_000 })
  blocks.write('last\n')
  blocks.flushSync()
  t.is(text(), 'last\n')
})

test('a reader that is stuck costs no more memory than the limit', async (t) => {
  const { fd, text } = openFile()
  const blocks = openLineBlocks({ fd, blockBytes: 10, maxBytes: 100, everyMs: 100_000 })
  for (let at = 0; at < 1000; at++) blocks.write('0123456789')
  await blocks.flush()
  t.true(text().length <= 130, String(text().length))
})
