import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { readOwnTable } from '../../src/app/level/release-records.ts'

const root = path.resolve(import.meta.dirname, '../..')
const releases = new Set(readOwnTable().releases.map(({ version }) => version))

/** The places where a release may be named: marks of additions, and the one question for changed behaviour. */
const allowed = [
  /\bsince: '[^']+'/g,
  /\bsince\(\s*'[^']+'/g,
  /\bvaluesSince\(\{[^}]*\}/g,
  /\bchanges: \[[^\]]*\]/g,
  /\batLeast\('[^']+'\)/g,
  /\bexample: '[^']+'/g,
  /\/\*[\s\S]*?\*\/|\/\/.*/g,
]

/** The releases that a source names elsewhere. */
const named = (text: string) => {
  const rest = allowed.reduce((left, pattern) => left.replaceAll(pattern, ''), text)
  return [...rest.matchAll(/(['"`])(\d+\.\d+\.\d+)\1/g)].map(([, , version = '']) => version).filter((version) => releases.has(version))
}

test('a release is named beside since, changes and atLeast alone', (t) => {
  t.deepEqual(named(`if (level.release === '1.9.0' || compareVersions(version, "1.12.0") > 0) {}`), ['1.9.0', '1.12.0'])
  t.deepEqual(
    named(
      `since('1.7.3', z.string()); since(\n  '1.7.3', z.string()); valuesSince({ a: '1.8.0' }, z.enum(['a'])); feature({ since: '1.9.0', changes: ['1.10.0', '1.11.0'] }); level.atLeast('1.9.0') // not '1.3.0'\nlisten('0.0.0.0')`,
    ),
    [],
  )
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('release/'),
  )
  t.true(files.length > 200)
  t.deepEqual(
    files.flatMap((file) => named(readFileSync(path.join(root, 'src', file), 'utf8')).map((version) => `src/${file} names ${version}`)),
    [],
  )
})
