import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** Faults of translations that users of other gateways reported, by their number in our list. */
const reports: Readonly<Record<number, string>> = {
  1: 'litellm#15601',
  2: 'litellm#8961',
  3: 'litellm#18926',
  4: 'litellm#26916',
  5: 'litellm#29518, #29600',
  6: 'litellm#25322',
  7: 'litellm#16895',
  8: 'bifrost#1437, #2210, #1142',
  9: 'bifrost#7357',
  10: 'bifrost#2093, #3802',
  11: 'vercel#13060',
  12: 'vercel#14765, #15181',
  13: 'vercel#13972, #14175',
  14: 'vercel#14739, #12049',
  15: 'vercel#16687',
  16: 'vercel#18247',
  17: 'envoy#2366',
  18: 'litellm#24361',
  19: 'envoy#736; mlflow#24296',
  20: 'litellm#6422',
  21: 'bifrost#2049, #2311',
  22: 'bifrost#3511, #3512',
  23: 'vercel#11863',
  24: 'vercel#15317, #17902',
  25: 'vercel#16643, #16561',
  26: 'vercel#17769',
  27: 'vercel#14968',
  28: 'vercel#14722, #14760, #7238, #12901, #5350',
  29: 'vercel#13744, #14950',
  30: 'vercel#16237, #17919',
  31: 'envoy#2472, #2232',
  32: 'envoy#2467',
  33: 'litellm#21041, #12240, #21577; envoy#2399',
  34: 'litellm#31634, #2195',
  35: 'litellm#18442, #6970',
  36: 'litellm#38223',
  37: 'vercel#11326, #11319, #19141, #18652',
  38: 'litellm#8901, #8883, #9594; vercel#7220',
  39: 'litellm#13207, #31076',
  40: 'bifrost#4746, #4970',
  41: 'bifrost#6942',
  42: 'envoy#2236, #2239, #2292; vercel#11611',
  43: 'envoy#2352, #2350; vercel#17326',
  44: 'envoy#2162, #2184',
  45: 'vercel#11536, #12425, #12485, #18614',
  46: 'litellm#33224, #30765',
  47: 'litellm#22102, #19368, #15432, #32724',
  48: 'bifrost#600',
  49: 'bifrost#7032',
  50: 'vercel#19169, #19040, #18996, #19039',
  51: 'vercel#17230, #13256, #11671',
  52: 'envoy#2549, #2470',
  53: 'envoy#2698',
  54: 'portkey#1206, #1072',
  55: 'litellm#21744',
  56: 'portkey#1762; envoy#2476',
  57: 'bifrost#5629; envoy#2488, #2358',
  58: 'litellm#27950, #19916',
  59: 'litellm#12850',
  60: 'litellm#18674; vercel#17432',
  61: 'vercel#12971, #17681',
  62: 'envoy#2191, #2189',
  63: 'envoy#2512, #2148; portkey#1502',
  64: 'envoy#2546, #2161',
  65: 'envoy#2554, #2157',
  66: 'vercel#17410, #17525; portkey#1436',
  67: 'vercel#17820',
}

const here = import.meta.dirname
const tests = join(here, '..')

/** The titles of all tests but this one's: every text with a report in it. */
const titled: ReadonlySet<string> = new Set(
  readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && file !== join('house', 'named-bugs.test.ts'))
    .flatMap((file) => readFileSync(join(tests, file), 'utf8').split('\n'))
    .flatMap((line) => readReports(line)),
)

/** Reads `litellm#22102, #19368; vercel#1` as the reports that it names. */
function readReports(text: string): readonly string[] {
  let project = ''
  return [...text.matchAll(/(litellm|bifrost|vercel|envoy|portkey|mlflow)?#(\d+)/g)].map(([, named, number]) => {
    project = named ?? project
    return `${project}#${number}`
  })
}

for (const [number, threads] of Object.entries(reports))
  test(`fault ${number} has a test that names it: ${threads}`, (t) => {
    t.deepEqual(
      readReports(threads).filter((report) => !titled.has(report)),
      [],
    )
  })
