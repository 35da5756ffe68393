import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import { settingsOfDockerfile } from '../../../tools/release/image/dockerfile.ts'
import { parseTarget, repositoryOf } from '../../../src/distribution/registry/target.ts'
import { formatSums, parseSums } from '../../../src/distribution/sums.ts'

const digest = 'a'.repeat(64)

test('a list of hashes is written as sha256sum writes it, and read back', (t) => {
  const sums = new Map([
    ['z', digest],
    ['a/b c', 'b'.repeat(64)],
  ])
  t.is(formatSums(sums), `${'b'.repeat(64)}  a/b c\n${digest}  z\n`)
  t.deepEqual([...parseSums(formatSums(sums))], [...sums].toReversed())
})

const badLists = [
  `${digest}  /etc/passwd\n`,
  `${digest}  ../outside\n`,
  `${digest}  a/../b\n`,
  `${digest}  a//b\n`,
  `${digest}  ./a\n`,
  `${digest}  a\\b\n`,
  `${digest}  a\u0007b\n`,
  `${digest} *a\n`,
  `${digest.toUpperCase()}  a\n`,
  `${digest}  a\n${digest}  a\n`,
  `${digest}  a`,
  '',
  '\n',
]
for (const text of badLists)
  test(`a list is refused: ${JSON.stringify(text.replaceAll(digest, '…'))}`, (t) => {
    const error = t.throws(() => parseSums(text), { instanceOf: DistributionFault })
    t.is(error?.code, 'archive_malformed')
  })

const targets: readonly (readonly [text: string, origin: string, prefix: string])[] = [
  ['registry.example', 'https://registry.example', ''],
  ['registry.example:5000/', 'https://registry.example:5000', ''],
  ['http://127.0.0.1:5000/mirror', 'http://127.0.0.1:5000', 'mirror'],
  ['https://[fd00::1]:5000/mirror/ai.tools_x', 'https://[fd00::1]:5000', 'mirror/ai.tools_x'],
]
for (const [text, origin, prefix] of targets)
  test(`--to ${text}`, (t) => {
    const target = parseTarget(text)
    t.like(target, { origin, prefix })
    t.is(target && repositoryOf(target, 'gatehouse'), `${prefix}${prefix ? '/' : ''}gatehouse`)
  })

for (const text of [
  '',
  'http://',
  'registry/UPPER',
  'user:pass@registry',
  'registry?x=1',
  'registry#x',
  'registry/a//b',
  'registry/-a',
  'a b',
])
  test(`--to ${JSON.stringify(text)} is refused`, (t) => t.is(parseTarget(text), null))

const dockerfile = readFileSync(path.resolve(import.meta.dirname, '../../../docker/Dockerfile'), 'utf8')

test('the builder without buildah gives the image what the Dockerfile says', (t) => {
  const settings = settingsOfDockerfile(dockerfile, { REVISION: 'abc', BASE: 'a-base' })
  t.deepEqual(settings, {
    User: '10001:0',
    ExposedPorts: { '8787/tcp': {} },
    Env: ['NODE_ENV=production', 'HOST=0.0.0.0', 'PORT=8787', 'DATA_DIR=/data'],
    Entrypoint: ['gatehouse'],
    Cmd: ['serve'],
    Volumes: { '/data': {} },
    WorkingDir: '/data',
    Labels: {
      'org.opencontainers.image.title': 'Gatehouse',
      'org.opencontainers.image.description': 'A self-hosted AI gateway and control plane: one process, one PostgreSQL.',
      'org.opencontainers.image.version': /^ARG RELEASE=(.*)$/m.exec(dockerfile)?.[1] ?? '',
      'org.opencontainers.image.created': /^ARG CREATED=(.*)$/m.exec(dockerfile)?.[1] ?? '',
      'org.opencontainers.image.revision': 'abc',
      'org.opencontainers.image.base.name': 'a-base',
    },
  })
})

test('an instruction that nobody taught the builder is refused', (t) => {
  t.throws(() => settingsOfDockerfile('FROM x\nRUN ["y"]\nFROM z\nONBUILD RUN y\n', {}), { message: /has ONBUILD/ })
})
