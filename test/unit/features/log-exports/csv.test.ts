import test from 'ava'
import { csvLine } from '../../../../src/features/log-exports/csv.ts'

for (const [text, cell] of [
  ['=1+1', "'=1+1"],
  ['x;=1+1', `"x;'=1+1"`],
  ['x; =1+1', `"x; '=1+1"`],
  ['x\t@SUM(A1)', `"x\t'@SUM(A1)"`],
  ['x|-1+cmd', `"x|'-1+cmd"`],
  ['x\n+1', `"x\n'+1"`],
  ['x\r\n=1', `"x\r\n'=1"`],
  ['＝1+1', "'＝1+1"],
  ['a;=1;@2', `"a;'=1;'@2"`],
  ['-1.5', '-1.5'],
  ['a=b', 'a=b'],
  ['{"a":"=1"}', '"{""a"":""=1""}"'],
  ['gpt-4o', 'gpt-4o'],
] as const)
  test(`CSV: ${JSON.stringify(text)}`, (t) => {
    t.is(csvLine([text, 1]), `${cell},1\r\n`)
  })
