import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { runAs } from '../../../../../src/app/database/embedded/account.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-account-'))
test.after.always(() => rmSync(folder, { recursive: true }))

const stranger = { uid: 54_321, gid: 54_321 }
const command = { file: '/bin/true', args: ['-x'] }

test('without an account a program runs as we do', (t) => {
  t.deepEqual(runAs(null, command, [folder]), { ...command, options: {} })
})

test('an account that reaches its folders is simply switched to', (t) => {
  t.deepEqual(runAs(stranger, command, ['/']), { ...command, options: stranger })
})

const whenSetpriv = existsSync('/usr/bin/setpriv') || existsSync('/bin/setpriv') ? test : test.skip

whenSetpriv('below a closed folder it keeps the one power that it needs', (t) => {
  const below = path.join(folder, 'closed', 'data')
  mkdirSync(below, { recursive: true })
  chmodSync(path.join(folder, 'closed'), 0o700)
  const { file, args, options } = runAs(stranger, command, [below])
  t.regex(file, /setpriv$/)
  t.true(args.includes('--reuid=54321') && args.includes('--bounding-set=-all,+dac_override'))
  t.deepEqual(args.slice(-2), ['/bin/true', '-x'])
  t.deepEqual(options, {})
})
