// The rehearsals with processes find faults: each runs a product with one.
import test from 'ava'
import { buildNext, thisBuild, type Edits, type NextRelease } from '../../../scripts/rehearse/build.ts'
import { killedMigrators, twoMigrators } from '../../../scripts/rehearse/scenarios/migrators.ts'
import { rollbacks } from '../../../scripts/rehearse/scenarios/rollback.ts'
import { rollingUpgrade } from '../../../scripts/rehearse/scenarios/side-by-side.ts'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { nightly } from '../../support/size.ts'

let keeper: TestDatabase
test.before(async () => void (keeper = await testDatabase({ empty: true })))
test.after.always(() => keeper.drop())

/** The two that take half a minute of a processor each; skipped, and reported so, unless `NIGHTLY=1`. */
const long = nightly ? test.serial : test.skip

const next = '1.13.0'

/** The next release with one migration more. */
const nextWith = (id: string, ...lines: readonly string[]): readonly NextRelease[] => [
  {
    version: next,
    migrations: { [id]: ['-- phase: expand', ...lines].join('\n') },
    recorded: id.startsWith('v01.13.00') ? [{ id, phase: 'expand' }] : [],
  },
]

/** Puts one text for another; a text that is not there any more fails the test. */
const replace = (before: string, after: string) => (text: string) => {
  if (!text.includes(before)) throw new Error(`${before} is not in the source any more`)
  return text.replace(before, after)
}

/** Migrators that do not wait for each other, and a first migration that lasts until there are two. */
const unlocked: Edits = {
  'src/app/database/schema/migration-lock.ts': (text) =>
    replace('if (rows[0]?.elsewhere === true) return', 'return')(replace('await acquire(keeper, options)', '')(text)),
}
const meeting = nextWith(
  'v01.00.00/000-meet',
  'DO $$ BEGIN',
  '  FOR turn IN 1..1000 LOOP',
  '    PERFORM pg_stat_clear_snapshot();',
  "    EXIT WHEN (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatehouse-migrate') > 1;",
  '    PERFORM pg_sleep(0.02);',
  '  END LOOP;',
  'END $$;',
)

test.serial('two migrators without a lock', async (t) => {
  const build = await buildNext(meeting, unlocked)
  t.teardown(build.remove)
  const faults = await twoMigrators(1, { build })
  t.regex(faults.join('\n'), /^round 1: gatehouse migrate ended with 1: .*duplicate key value/s)
})

test.serial('a migration that cannot be taken up again where it was cut off', async (t) => {
  const steps = nextWith(
    'v01.13.00/001-steps',
    '-- transactional: false',
    'CREATE TABLE first_step (id int);',
    'CREATE TABLE second_step (id int);',
  )
  const build = await buildNext(steps)
  t.teardown(build.remove)
  const faults = await killedMigrators(['CREATE TABLE second_step'], { build, width: 1 })
  t.regex(faults.join('\n'), /^killed after query CREATE TABLE second_step: .*relation "first_step" already exists/s)
})

long('a migration that takes from older processes what they use', async (t) => {
  const build = await buildNext(nextWith('v01.13.00/001-early', 'ALTER TABLE labels DROP COLUMN color_code;'))
  t.teardown(build.remove)
  const { faults, requests } = await rollingUpgrade(0.2, { old: await thisBuild(), next: build })
  t.true(requests > 10)
  t.regex(faults.join('\n'), /^\d+ times: control.*500/m)
})

long('data that a rollback does not find, and a verdict that is wrong', async (t) => {
  const lossy = nextWith(
    'v01.13.00/001-lossy',
    "SELECT set_config('app.scope', 'system', true);",
    'DELETE FROM labels WHERE NOT is_built_in;',
  )
  const lenient = { 'src/release/rollback.ts': replace('compareVersions(to, minAppVersion) >= 0', 'to !== minAppVersion') }
  const faults = (await rollbacks([lossy], { edits: lenient })).join('\n')
  t.regex(faults, /^1\.12\.0 at "1-13-0-back": the label of "before" is gone$/m)
  t.regex(faults, /^rollback-check 1\.12\.0 by 1\.13\.0 ended with 0/m)
})
