import test from 'ava'
import type { Project } from '../../../src/release/project.ts'
import { code, refuses, sound } from '../../support/release-rules.ts'

const migrations = sound.hashes.migrations
const chartFile = (path: string, text: string): Project => ({ ...sound, chart: { ...sound.chart, files: { [path]: text } } })

test(
  refuses,
  'R9',
  { ...sound, hashes: { ...sound.hashes, migrations: { ...migrations, 'v01.00.00/001-logs': 'another' } } },
  '1.0.0: the migration v01.00.00/001-logs was edited or deleted after the release',
)
test(
  refuses,
  'R9',
  { ...sound, hashes: { ...sound.hashes, records: { '1.0.0': 'another' } } },
  '1.0.0: its record was edited after the release',
)
test(
  refuses,
  'R9',
  { ...sound, locks: [...sound.locks, { version: '9.0.0', record: '', migrations: {}, images: [], digests: {} }] },
  '9.0.0: is locked and has no record',
)

const changelog = { path: 'CHANGELOG.md', expected: 'new' }
const remedy = 'run "npm run gatehouse -- release generate"'
test(refuses, 'R11', { ...sound, generated: [{ ...changelog, found: 'old' }] }, `CHANGELOG.md: does not match the records: ${remedy}`)
test(refuses, 'R11', { ...sound, generated: [{ ...changelog, found: null }] }, `CHANGELOG.md: is missing: ${remedy}`)

const image = 'registry.example/gatehouse:1.0.0'
test(
  refuses,
  'R12',
  { ...sound, chart: { ...sound.chart, images: [image, 'docker.io/busybox:latest'] } },
  '1.0.0: the chart renders docker.io/busybox:latest, which is not locked',
)
test(refuses, 'R12', { ...sound, chart: { ...sound.chart, images: [] } }, `1.0.0: the locked image ${image} is not in the chart`)

test(
  refuses,
  'R13',
  chartFile('values.schema.json', '{\n"$ref": "https://schemas.example/port.json" }'),
  'values.schema.json: line 2: a remote $ref',
)
test(refuses, 'R13', chartFile('values.yaml', 'proxy: http://proxy.example'), 'values.yaml: line 1: an address')
test(refuses, 'R13', chartFile('Chart.yaml', 'sources:\n  - https://a.example\nurl: https://b.example'), 'Chart.yaml: line 3: an address')
test(refuses, 'R13', chartFile('templates/home.yaml', 'home: https://a.example'), 'templates/home.yaml: line 1: an address')
test(refuses, 'R13', chartFile('values.yaml', 'sources:\n  - https://a.example'), 'values.yaml: line 2: an address')

test(
  refuses,
  'R15',
  code({ version: '1.2.9' }),
  '1.2.9: package.json names it, and it has no record: run "npm run gatehouse -- release new"',
)
