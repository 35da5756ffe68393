import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** Wrong charges for users of other products, by the threads that report them. */
const failures: Readonly<Record<string, string>> = {
  'cached tokens counted at both rates': '#14849, #9812, #3451',
  'cached tokens not taken off the input, or not priced': '#6215, #9049, #904, #1872, PR 2148, PR 1688',
  'cached tokens added to a total that has them': '#40006, #14874, #10592, #12306, #5516',
  'a wrong digit or unit in a price list': '#9833, #5243, #1778, #3492, #52588',
  'units that are no tokens, not read': '#4239, #15858, #2296, #6509, #14447, #19154, #20228, #868',
  'reasoning without a price, or not counted': '#16425, #1014, #336, #920, #2943, #5699',
  'the tier that was asked instead of the one served, or none': '#13780, #31837, #13810, #37046, #30558, #38802',
  'cache writes of an hour': '#29432, #18988',
  'prices above a threshold': '#30135, PR 5730, #862, #40002',
  'the price of another host, model or alias': '#4893, #4072, #4112, #7004, #1810, #41605, #14912, #36042, #38656',
  'a model without a price': '#2983, #20412, #3298',
  'images by the wrong rate': '#13847, #31142',
  'usage lost on the way': '#39088, #6144, #234, #6374, #1127',
  'batches at the wrong rate': '#38341, #39861, #9077, #37077',
  'budgets that hold nothing, or too much': '#4492, #421, #30522, #27639, #40050, #35568',
}

const tests = join(import.meta.dirname, '..')
/** Every file of the tests but those of the house. */
const told = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('house'))
  .map((file) => readFileSync(join(tests, file), 'utf8'))
  .join('\n')

/** Tests name a thread as `#1`, `PR 1`, or in a list after one. */
const isNamed = (thread: string): boolean => new RegExp(`(?:#|PR |, )${thread}(?!\\d)`).test(told)

for (const [failure, threads] of Object.entries(failures))
  test(`charging: ${failure}`, (t) => {
    const numbers = threads.match(/\d+/g) ?? []
    t.deepEqual(
      numbers.filter((number) => !isNamed(number)),
      [],
    )
  })
