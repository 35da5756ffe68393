import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { makeFolder } from '../../../src/lib/make-folder.ts'

test('missing folders are made, those that are there are left alone, and what cannot be made is refused at once', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'gatehouse-folder-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const deep = path.join(root, 'a', 'b', 'c')
  makeFolder(deep, { mode: 0o700 })
  makeFolder(deep)
  t.is(statSync(deep).mode & 0o777, 0o700)
  writeFileSync(path.join(root, 'file'), '')
  t.throws(() => makeFolder(path.join(root, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(path.join(root, 'file', 'below')), { code: 'EEXIST' })
  if (existsSync('/proc/self')) t.throws(() => makeFolder('/proc/gatehouse/below'), { code: 'ENOENT' })
})
