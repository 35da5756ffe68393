import test from 'ava'
import { compilePattern } from '../../../../src/gateway/patterns/pattern.ts'

/** How many characters a match can have when it first shows. A character that may be beyond the first plane counts twice. */
const reaches: readonly (readonly [rule: string, longest: number])[] = [
  ['secret', 6],
  ['/secret/i', 6],
  ['', 0],
  ['a|', 0],
  ['a{3,5}b', 6],
  ['a{3,5}', 3],
  ['a?b?c', 3],
  ['(?:ab|c){2}', 4],
  ['(?P<name>ab)(c)', 3],
  ['[a-z]{10}', 10],
  ['[^a]', 2],
  ['.', 2],
  ['(?s).', 2],
  ['\\pL{3}', 6],
  ['é', 1],
  ['/é/i', 2],
  ['😀', 2],
  ['[\\x{10000}-\\x{10FFFF}]', 2],
  ['\\Qa+b\\E', 3],
  ['\\d{3}-\\d{2}-\\d{4}', 11],
  ['^ab', 2],
  ['ab$', 2],
  ['\\bkey\\b', 3],
  ['a(?:b(?:c|d)?)?e', 4],
  // It shows as soon as the first of them is there.
  ['sk-[a-z]+', 4],
  ['\\d+', 1],
  ['a*', 0],
  ['(ab)+', 2],
  ['a(b|c+)', 2],
  ['x*?', 0],
  // Its first may be anywhere before its last.
  ['a+b', Infinity],
  ['a*$', Infinity],
  ['[a-z]+\\b', Infinity],
  ['(?:a|b*)*c', Infinity],
  ['BEGIN[\\s\\S]+END', Infinity],
  ['a{2,}b', Infinity],
  ['.*', 0],
  ['a.*b', Infinity],
  ['a(?:b|c)*d|e', Infinity],
]

for (const [rule, longest] of reaches)
  test(`how far a match of ${rule} reaches`, (t) => {
    t.is(compilePattern(rule).reach().longest, longest)
  })

test('a match that looks at what follows is known as such', (t) => {
  for (const rule of ['a$', 'a\\b', 'a\\B', '(?m)a$', 'a\\z', '\\ba']) t.true(compilePattern(rule).reach().readsEnd, rule)
  for (const rule of ['a', '^a', '\\Aa', '[$]', '\\$']) t.false(compilePattern(rule).reach().readsEnd, rule)
})

test('no match is longer than its reach when it first shows', (t) => {
  let seed = 7
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const atoms = ['a', 'b', '-', '.', '[ab]', '[^a]', '(?:ab|b-)', '(?:a|)', '\\pL', '😀', '(?:\\b)', '(?:^)', '(?:$)']
  const repeats = ['', '', '', '?', '*', '+', '{2}', '{1,3}', '{2,}', '*?']
  for (let count = 0; count < 400; count += 1) {
    const rule = Array.from({ length: 1 + random(4) }, () => one(atoms) + one(repeats)).join('')
    const pattern = compilePattern(rule)
    const { longest, readsEnd } = pattern.reach()
    const text = Array.from({ length: 12 }, () => one(['a', 'b', '-', '😀'])).join('')
    const first = Array.from({ length: text.length + 1 }, (_, end) => text.slice(0, end)).find((said) => pattern.test(said))
    const start = first === undefined ? undefined : pattern.matches([first])[0]?.[0]?.start
    // A pattern that looks at the next character shows only with that.
    if (first !== undefined && start !== undefined) t.true(first.length - start <= longest + (readsEnd ? 2 : 0), `${rule} ${first}`)
  }
})
