import test from 'ava'
import { feature } from '../../../../src/app/feature.ts'
import { jobsOf, mountFeatures, type MountOptions } from '../../../../src/app/level/mount.ts'
import type { FeatureFlag } from '../../../../src/config/config.ts'
import { fixedLevel } from '../../../../src/release/level.ts'

const flags = (off: readonly FeatureFlag[] = []) => {
  const names: FeatureFlag[] = [
    'GUARDRAILS_ENABLED',
    'API_ACCESS_ENABLED',
    'DATA_EXPORTS_ENABLED',
    'USAGE_LIMITS_ENABLED',
    'AUDIT_LOGS_ENABLED',
    'SCIM_ENABLED',
    'POLICY_ENABLED',
  ]
  return Object.fromEntries(names.map((name) => [name, !off.includes(name)])) as Record<FeatureFlag, boolean>
}
const at = (version: string, off: readonly FeatureFlag[] = []): MountOptions => ({
  config: { flags: flags(off), version, releaseLevel: null },
  level: fixedLevel(version),
})
const base = { permissions: [], entities: [], routes: [] }
const job = { name: 'work', every: '* * * * *', irreversible: false, run: async () => {} }

const releases = test.macro<[string, string, boolean]>({
  exec(t, since, version, mounted) {
    const [one] = mountFeatures([feature({ ...base, id: 'one', since })], at(version))
    t.is(one?.unavailable === null, mounted)
  },
  title: (_, since, version, mounted) => `since ${since} in ${version}: ${mounted ? 'on' : 'off'}`,
})

test(releases, '1.3.0', '1.12.0', true)
test(releases, '1.12.0', '1.12.0', true)
test(releases, '1.12.1', '1.12.0', false)
test(releases, '1.9.0', '1.12.0', true)
test(releases, '2.0.0', '1.12.0', false)
test(releases, '1.13.0', '2.0.0', true)

test('a flag that is off takes what needs it along, with its jobs', (t) => {
  const list = [
    feature({ ...base, id: 'one', since: '1.0.0', flag: 'POLICY_ENABLED', jobs: [job] }),
    feature({ ...base, id: 'two', since: '1.0.0', requires: ['one'], jobs: [job] }),
    feature({ ...base, id: 'three', since: '1.0.0', jobs: [{ ...job, name: 'other' }] }),
  ]
  const on = at('1.12.0')
  const off = at('1.12.0', ['POLICY_ENABLED'])
  t.deepEqual(
    mountFeatures(list, on).map(({ unavailable }) => unavailable),
    [null, null, null],
  )
  t.deepEqual(
    mountFeatures(list, off).map(({ unavailable }) => unavailable?.message.slice(0, 30)),
    ['The feature one is off. Set PO', 'The feature two needs the feat', undefined],
  )
  const names = (features: Parameters<typeof jobsOf>[0]) => jobsOf(features, off).map(({ name }) => name)
  t.deepEqual(names(list), [...names([]), 'other'])
})
