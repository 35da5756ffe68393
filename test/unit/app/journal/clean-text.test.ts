import test from 'ava'
import fc from 'fast-check'
import { cleanText, toCleanJson } from '../../../../src/app/journal/clean-text.ts'

test('text without NUL is the same text', (t) => {
  t.is(cleanText('a"\\u0000ä'), 'a"\\u0000ä')
  t.is(cleanText('a\0b\0'), 'a\uFFFDb\uFFFD')
})

test('JSON never holds an escape that jsonb refuses, and keeps everything else', (t) => {
  const text = fc.string({ unit: fc.oneof(fc.constantFrom('\0', '\uD800', '\uDC00', '\\', 'u0000', '\u{1F600}', '"'), fc.string()) })
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, fc.integer())), (value) => {
      const back = JSON.parse(toCleanJson(value)) as Record<string, string | number>
      for (const entry of Object.entries(back).flat()) {
        if (typeof entry === 'string') t.true(entry.isWellFormed() && !entry.includes('\0'))
      }
      const kept = Object.entries(value).filter((entry) =>
        entry.every((part) => typeof part === 'number' || (part.isWellFormed() && !part.includes('\0'))),
      )
      for (const [name, entry] of kept) t.is(back[name], entry)
    }),
  )
})
