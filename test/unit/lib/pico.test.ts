import test from 'ava'
import { formatPico, fromPico, parsePico, toPico } from '../../../src/lib/pico.ts'

const exact = test.macro({
  exec(t, amount: number, pico: bigint) {
    t.is(toPico(amount), pico)
    t.is(fromPico(pico), amount)
  },
  title: (_, amount) => `${String(amount)} is read and shown without loss`,
})

test(exact, 0, 0n)
test(exact, 1, 1_000_000_000_000n)
test(exact, 0.1, 100_000_000_000n)
test(exact, 12.000000001, 12_000_000_001_000n)
test(exact, 1e-12, 1n)
test(exact, 2.5e-7, 250_000n)
test(exact, 99_999_999_999, 99_999_999_999_000_000_000_000n)
test(exact, 1e21, 10n ** 33n)

test('digits behind the twelfth are rounded, and what is no amount is refused', (t) => {
  t.is(toPico(4e-13), 0n)
  t.is(toPico(5e-13), 1n)
  t.is(parsePico('0.0000000000019'), 2n)
  t.is(parsePico('12.000000001'), 12_000_000_001_000n)
  t.is(formatPico(12_000_000_001_000n), '12.000000001000')
  t.is(formatPico(7n), '0.000000000007')
  for (const text of ['-1', '', 'NaN', 'Infinity', '1,5', '.5', '1.']) t.throws(() => parsePico(text), { instanceOf: RangeError }, text)
})

test('ten dimes are a dollar', (t) => {
  t.is(fromPico(Array.from({ length: 10 }, () => toPico(0.1)).reduce((sum, dime) => sum + dime, 0n)), 1)
})
