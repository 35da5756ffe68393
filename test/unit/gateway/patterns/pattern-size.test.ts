import test from 'ava'
import { patternFault, patternFaultAt, withPatterns } from '../../../../src/gateway/patterns/pattern-making.ts'
import { patternWork } from '../../../../src/gateway/patterns/pattern-size.ts'
import { compilePattern } from '../../../../src/gateway/patterns/pattern.ts'

test('work counts what takes long: repeats, classes of thousands of ranges, ranges without regard to case', (t) => {
  for (const source of ['a{3000}b{3000}', '\\p{L}|'.repeat(150), `(?i)${'[b-\\x{1e920}]'.repeat(3)}`, '\\pL{1000}'])
    t.true(patternWork(source) > 4000, `${source.slice(0, 40)}: ${patternWork(source)}`)
  for (const source of ['\\d{3}-\\d{4}', '(?i)[a-z]{1,200}@[a-z]+', '\\p{L}{1,100}', '[\\w.]{1,64}@[\\w.]{1,255}'])
    t.true(patternWork(source) < 1000, `${source}: ${patternWork(source)}`)
})

const faults = (sources: readonly string[]) => withPatterns({ owner: 'o', passing: true }, () => sources.map(patternFault))

test('all patterns of one config together are bounded, and the same one counts once', async (t) => {
  const { result } = await faults(Array.from({ length: 8 }, (_, at) => `a{900}b{900}c{900}x${at}`))
  t.true(result.some((fault) => fault?.includes('all patterns together') === true))
  t.deepEqual(new Set((await faults(Array.from({ length: 50 }, () => 'a{900}b{900}c{900}y'))).result), new Set([null]))
})

test('behind patterns that ask for too much together no other one is looked at', async (t) => {
  let looked = 0
  const look = () => {
    looked += 1
    return null
  }
  const sources = Array.from({ length: 100 }, (_, at) => `a{900}b{900}c{900}x${at}`)
  const { result } = await withPatterns({ owner: 'o', passing: true }, () => sources.map((source) => patternFaultAt(source, look)))
  t.true(looked < 20, String(looked))
  t.regex(result.at(-1) ?? '', /all patterns together/)
})

test('a search that comes through a thousand places at once is given up', (t) => {
  const pattern = compilePattern('[a-q].{0,900}[^u-z]{900}x1')
  const text = Array.from({ length: 3000 }, (_, at) => (at * 7919).toString(36)).join(' ')
  const from = process.threadCpuUsage()
  t.throws(() => pattern.test(text), { message: /takes too long/ })
  const { user, system } = process.threadCpuUsage(from)
  t.true(user + system < 150_000, `${user + system} us`)
})
