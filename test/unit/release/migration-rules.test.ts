import test from 'ava'
import { withRelease } from '../../support/release-project.ts'
import { refuses, release, sound } from '../../support/release-rules.ts'

const migrations = sound.hashes.migrations
const migration = { needs: [], minApp: undefined, phase: 'expand' as const }
const contract = { ...migration, id: 'v01.02.00/001-drop-path', phase: 'contract' as const, minApp: '1.1.0' }
const [former] = sound.table.releases[1]?.migrations.toReversed() ?? []
test(
  refuses,
  'R8',
  { ...sound, hashes: { ...sound.hashes, migrations: { ...migrations, 'v01.02.00/002-new': '' } } },
  'v01.02.00/002-new: no record names this migration',
)
test(
  refuses,
  'R8',
  release('1.2.0', {
    migrations: [...(sound.table.releases[2]?.migrations ?? []), { ...contract, id: 'v01.02.00/002-gone', needs: [former?.id ?? ''] }],
  }),
  '1.2.0: v01.02.00/002-gone does not exist',
)
const misplaced = { ...sound, hashes: { ...sound.hashes, migrations: { ...migrations, 'v01.10.00/001-x': '' } } }
test(
  refuses,
  'R8',
  withRelease(misplaced, '1.0.0', {
    migrations: [...(sound.table.releases[0]?.migrations ?? []), { ...migration, id: 'v01.10.00/001-x' }],
  }),
  '1.0.0: v01.10.00/001-x belongs into v01.00.00/',
)
test(
  refuses,
  'R8',
  release('1.1.0', { migrations: sound.table.releases[1]?.migrations.toReversed() ?? [] }),
  '1.1.0: v01.01.00/001-path (expand) comes after a later phase',
)
test(refuses, 'R8', release('1.2.0', { migrations: [contract] }), '1.2.0: v01.02.00/001-drop-path names no backfill that it needs')
test(
  refuses,
  'R8',
  release('1.2.0', { migrations: [{ ...contract, needs: ['v01.01.00/001-path'] }] }),
  '1.2.0: v01.02.00/001-drop-path needs v01.01.00/001-path, which is no backfill of an earlier release',
)
test(
  refuses,
  'R8',
  release('1.2.0', { migrations: [{ ...contract, needs: [former?.id ?? ''], minApp: '1.2.0' }] }),
  '1.2.0: v01.02.00/001-drop-path names no earlier release as minApp',
)
const together = { ...sound, hashes: { ...sound.hashes, migrations: { ...migrations, 'v01.02.00/000-fill': '' } } }
test(
  refuses,
  'R8',
  withRelease(together, '1.2.0', {
    migrations: [
      { ...migration, id: 'v01.02.00/000-fill', phase: 'backfill' },
      { ...contract, needs: ['v01.02.00/000-fill'] },
    ],
  }),
  '1.2.0: v01.02.00/001-drop-path needs v01.02.00/000-fill, which is no backfill of an earlier release',
)
test(
  refuses,
  'R8',
  release('1.0.0', { migrations: [{ ...migration, id: 'v01.00.00/001-logs', minApp: '1.0.0' }] }),
  '1.0.0: v01.00.00/001-logs is no contract step, and has needs or minApp',
)
