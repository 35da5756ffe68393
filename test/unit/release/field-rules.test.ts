import test from 'ava'
import { z } from 'zod'
import { check } from '../../../tools/records/check.ts'
import { marksWithin } from '../../../src/release/marks.ts'
import { changelog } from '../../../src/release/notes.ts'
import { ReleaseRecord } from '../../../src/release/record.ts'
import { since, valuesSince } from '../../../src/release/since.ts'
import { statusLines } from '../../../tools/records/status.ts'
import { code, refuses, release, sound } from '../../support/release-rules.ts'

const fields = [{ operation: 'GET /tags', at: 'query.name', since: '1.1.0' }]
const recorded = { fields: { tags: { 'query.name': ['GET /tags'] } } }
const later = { features: { added: ['later'], changed: [], removed: [] }, fields: { later: { 'query.name': ['GET /tags'] } } }

test(refuses, 'R16', code({ fields }), '1.1.0: the code brings query.name of GET /tags, which its record does not name')
test(
  refuses,
  'R16',
  release('1.1.0', recorded),
  '1.1.0: its record names query.name of GET /tags for tags, and nothing in the code is marked so',
)
test(
  refuses,
  'R16',
  release('1.2.0', { fields: { tags: {} } }),
  '1.2.0: its record names fields of tags, which it neither adds nor changes',
)
test(
  refuses,
  'R18',
  code({ fields: [{ operation: 'GET /tags', at: 'query.name', since: '1.1.5' }] }),
  '1.1.5: fields are marked with it, and it has no record',
)
test(
  refuses,
  'R17',
  release('1.2.0', { notes: [{ text: 'A thing.', of: ['none'] }] }),
  '1.2.0: its notes are of none, which it neither adds nor changes',
)

const findings = (project: typeof sound) => check(project).filter(({ pending }) => pending !== true)

test('what is recorded and marked is at rest; what works and is claimed by nothing is a fault', (t) => {
  const both = { ...release('1.1.0', recorded), code: { ...sound.code, fields } }
  t.deepEqual(findings(both), [])
  const unclaimed = {
    ...release('1.2.0', later),
    code: { ...sound.code, fields: [{ ...fields[0], since: '1.2.0' } as (typeof fields)[0]] },
  }
  t.deepEqual(
    findings(unclaimed).map(({ rule, message }) => `${rule} ${message}`),
    ['R16 query.name of GET /tags works, and later counts as pending'],
  )
})

test('a line of the notes is of what stands behind it in brackets', (t) => {
  const { notes } = ReleaseRecord.pick({ notes: true }).parse({ notes: 'Plain.\nTwo things [of one kind]. [one, TWO]\n' })
  t.deepEqual(notes, [
    { text: 'Plain.', of: [] },
    { text: 'Two things [of one kind].', of: ['one', 'TWO'] },
  ])
})

test('what this build lacks counts as pending, and the change log says so', (t) => {
  const told = release('1.1.0', {
    env: { added: ['LATER'], changed: [], removed: [] },
    notes: [
      { text: 'Lists have tags.', of: ['tags'] },
      { text: 'A switch.', of: ['LATER'] },
      { text: 'Tags and a switch.', of: ['tags', 'LATER'] },
    ],
  })
  const own = sound.code
  t.true(statusLines(told).includes('  setting          pending      LATER'))
  const text = changelog(told.table.releases, own)
  t.true(
    text.includes('- Lists have tags.\n- A switch. *Not in this build yet.*\n- Tags and a switch. *Only partly in this build yet.*\n'),
    text,
  )
  const incomplete = own.features.map((one) => (one.id === 'tags' ? { ...one, incomplete: 'Not whole.' } : one))
  t.true(changelog(told.table.releases, { ...own, features: incomplete }).includes('- Lists have tags. *Not in this build yet.*\n'))
})

test('marks are found by the names of fields, however deep, and by values', (t) => {
  const schema = z.object({
    get inner() {
      return z.array(schema).optional()
    },
    tags: since('1.7.3', z.string()).optional(),
    kinds: z.array(valuesSince({ b: '1.8.0' }, z.enum(['a', 'b']))),
  })
  t.deepEqual(marksWithin(schema), [
    { name: 'tags', since: '1.7.3' },
    { name: 'b', since: '1.8.0' },
  ])
})
