import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runCommand } from '../../../scripts/rehearse/command.ts'
import { gatehouseHere as run, root } from '../../support/cli.ts'
import { cliLauncher, imageProgram } from '../../../src/distribution/release/names.ts'
import { nightlyParts } from '../../../src/distribution/release/nightly.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { smallImage, smallRelease, writeKeys } from '../../support/small-release.ts'

const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }

function scratch(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-release-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function image(t: ExecutionContext, options: Partial<Parameters<typeof smallImage>[1]> = {}): Promise<string> {
  const folder = path.join(scratch(t), 'image')
  await smallImage(folder, { version, ...options })
  return folder
}

const build = (output: string, ...args: readonly string[]) =>
  run(['release', 'build', version, '--output', output, '--allow-dirty', ...args])

const read = (...parts: readonly string[]) => readFileSync(path.join(...parts), 'utf8')

/** The sources of a release, in a folder that a test may change. */
function checkout(t: ExecutionContext): string {
  const folder = path.join(scratch(t), 'checkout')
  for (const name of [
    'releases',
    'migrations',
    'charts',
    'docker',
    'docs',
    'CHANGELOG.md',
    'README.md',
    'package.json',
    'package-lock.json',
  ])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  return folder
}

test('a release is built from an image: everything is there, listed and described; once locked, its record stays', async (t) => {
  const sources = checkout(t)
  const output = path.join(sources, 'out')
  const locked = path.join(sources, 'releases/locks', `${version}.lock.json`)
  // An archive, as other builders write it.
  const archive = path.join(scratch(t), 'image.tar')
  execFileSync('tar', ['-cf', archive, '-C', await image(t), '.'])
  const buildIt = (to: string) =>
    run(['--root', sources, 'release', 'build', version, '--output', to, '--image', archive, '--lock', '--json'])
  const { status, stderr, stdout } = await buildIt(output)
  t.is(status, 0, stderr)
  t.regex(stderr, /^warning: debian 12 in the image for linux-amd64 is mended no more since 2026-06-10$/m)
  t.like(JSON.parse(stdout), { folder: output, builder: 'given', lock: { version, images: [`gatehouse:${version}`] } })
  const sbom = `gatehouse-${version}-linux-amd64.cdx.json`
  const files = [
    'SHA256SUMS',
    'app-1.6.0.tgz',
    'docs',
    `gatehouse-cli-${version}.tgz`,
    'oci',
    'provenance.intoto.json',
    'sbom',
    `${version}.lock.json`,
  ]
  t.deepEqual(readdirSync(output).toSorted(), files.toSorted())
  t.notThrows(() => execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: output }))

  const bill = JSON.parse(read(output, 'sbom', sbom)) as {
    components: { purl?: string; name: string }[]
    dependencies: { ref: string; dependsOn: string[] }[]
  }
  t.like(bill, { bomFormat: 'CycloneDX', specVersion: '1.6', metadata: { component: { name: 'gatehouse', version } } })
  t.deepEqual(
    bill.components.map(({ purl, name }) => purl ?? name),
    [
      'debian',
      'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=amd64&distro=debian-12&upstream=gcc-12',
      'pkg:generic/node@24.21.0',
      'pkg:npm/koa@3.3.0',
      'pkg:npm/%40hapi/accept@6.0.3',
      'pkg:npm/left@1.0.0',
    ],
  )
  const uses = (ref: string) => bill.dependencies.find((each) => each.ref === ref)?.dependsOn
  t.deepEqual(uses('pkg:npm/koa@3.3.0'), ['pkg:npm/%40hapi/accept@6.0.3'])
  t.true(uses('gatehouse')?.includes('pkg:npm/koa@3.3.0'))
  t.false(uses('gatehouse')?.includes('pkg:npm/left@1.0.0'))

  const { subject } = JSON.parse(read(output, 'provenance.intoto.json')) as { subject: { name: string; digest: { sha256: string } }[] }
  const sha256 = (name: string) =>
    createHash('sha256')
      .update(readFileSync(path.join(output, name)))
      .digest('hex')
  for (const name of ['app-1.6.0.tgz', `sbom/${sbom}`]) t.is(subject.find((each) => each.name === name)?.digest.sha256, sha256(name))
  const index = JSON.parse(read(output, 'oci', 'index.json')) as { manifests: { digest: string; annotations: Record<string, string> }[] }
  for (const { digest, annotations } of index.manifests)
    t.is(`sha256:${subject.find(({ name }) => name === annotations['org.opencontainers.image.ref.name'])?.digest.sha256}`, digest)

  t.is(read(locked), read(output, `${version}.lock.json`))
  t.regex((await buildIt(`${output}2`)).stderr, /^error: version_exists: .*lock\.json is there already/m)
  writeFileSync(path.join(sources, 'releases', `${version}.yaml`), `${read(sources, 'releases', `${version}.yaml`)}# edited\n`)
  // The lock agrees with all the rest: the images of the chart, the migrations.
  const checked = await run(['--root', sources, 'release', 'check'])
  t.regex(checked.stdout, new RegExp(`^R9 {3}${version}: its record was edited after the release\n21 releases, 1 faults, `))
})

const provenance = (folder: string) =>
  JSON.parse(read(folder, 'provenance.intoto.json')) as { predicate: { buildDefinition: { externalParameters: object } } }

test('changes that no commit holds are refused, or told by the provenance', async (t) => {
  const sources = checkout(t)
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', sources, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args])
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  const built = path.join(scratch(t), 'image')
  await smallImage(built, { version })
  const buildIt = (to: string, ...args: readonly string[]) =>
    run(['--root', sources, 'release', 'build', version, '--output', to, '--image', built, ...args])
  const output = path.join(scratch(t), 'release')
  const clean = await buildIt(`${output}-clean`)
  t.is(clean.status, 0, clean.stderr)
  t.deepEqual(provenance(`${output}-clean`).predicate.buildDefinition.externalParameters, {
    version,
    builder: 'given',
    variant: 'release',
    dirty: false,
  })
  writeFileSync(path.join(sources, 'docker/ca/mine.pem'), '')
  const refused = await buildIt(output)
  t.is(refused.status, 1)
  t.regex(refused.stderr, /^error: sources_changed: .*\(docker\/ca\/mine\.pem\).*--allow-dirty/m)
  t.is((await buildIt(output, '--allow-dirty')).status, 0)
  t.like(provenance(output).predicate.buildDefinition.externalParameters, { dirty: true })
})

const passedParts = Object.keys(nightlyParts).map((name) => ({ name, passed: true, seconds: 1, skipped: [] as string[] }))

test('a release is verified with the record of a nightly run that passed at its commit; every other one is refused by name', async (t) => {
  const sources = checkout(t)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', sources, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  const commit = git('rev-parse', 'HEAD')
  const folder = scratch(t)
  const built = path.join(folder, 'image')
  await smallImage(built, { version })
  const { privateKey, publicKey } = await writeKeys(folder)
  const record = path.join(folder, 'nightly.json')
  const buildWith = async (output: string, content: unknown, ...args: readonly string[]) => {
    writeFileSync(record, typeof content === 'string' ? content : JSON.stringify(content))
    const nightly = content === null ? [] : ['--nightly', record]
    return run([
      '--root',
      sources,
      'release',
      'build',
      version,
      '--output',
      path.join(folder, output),
      '--image',
      built,
      ...nightly,
      ...args,
    ])
  }
  const verify = async (output: string, ...args: readonly string[]) => {
    t.is((await run(['release', 'sign', path.join(folder, output), '--key', privateKey])).status, 0)
    return run(['release', 'verify', path.join(folder, output), '--key', publicKey, ...args])
  }

  const good = { commit, endedAt: '2026-11-29T02:00:00.000Z', parts: passedParts }
  const refusals: Readonly<Record<string, readonly [code: string, content: unknown]>> = {
    'a text that is no record': ['nightly_missing', 'passed'],
    'a field that a record has not': ['nightly_missing', { ...good, signed: true }],
    'another commit': ['nightly_differs', { ...good, commit: '0'.repeat(40) }],
    'a part that failed': ['nightly_failed', { ...good, parts: passedParts.map((part, at) => ({ ...part, passed: at > 0 })) }],
    'a part that did not run': ['nightly_failed', { ...good, parts: passedParts.slice(1) }],
  }
  for (const [title, [code, content]] of Object.entries(refusals)) {
    const refused = await buildWith('refused', content)
    t.is(refused.status, 1, title)
    t.regex(refused.stderr, new RegExp(`^error: ${code}: `, 'm'), title)
  }

  const skipped = passedParts.map((part) => (part.name === 'clients' ? Object.assign({}, part, { skipped: ['SKIPPED - an agent'] }) : part))
  t.is((await buildWith('whole', { ...good, parts: skipped })).status, 0)
  const verified = await verify('whole')
  t.is(verified.status, 0, verified.stderr)
  t.regex(
    verified.stdout,
    new RegExp(`^A nightly run that ended at 2026-11-29T02:00:00.000Z proved ${commit}\\.\n  clients: SKIPPED - an agent$`, 'm'),
  )

  t.is((await buildWith('bare', null)).status, 0)
  const bare = await verify('bare')
  t.is(bare.status, 1)
  t.regex(bare.stderr, /^error: nightly_missing: /m)
  t.is((await verify('bare', '--without-nightly')).status, 0)
  const published = await run(['release', 'publish', path.join(folder, 'bare'), '--key', publicKey, '--to', 'http://127.0.0.1:1/x'])
  t.regex(published.stderr, /^error: nightly_missing: /m)

  writeFileSync(path.join(sources, 'docker/ca/mine.pem'), '')
  t.regex((await buildWith('dirty', good, '--allow-dirty')).stderr, /^error: nightly_differs: /m)
})

test('two builds are the same to the last byte', async (t) => {
  const releases = [await smallRelease(), await smallRelease()]
  t.teardown(() => Promise.all(releases.map((release) => release.remove())))
  const [one, two] = releases.map(({ folder }) => read(folder, 'SHA256SUMS'))
  t.is(one, two)
})

test('an earlier release is cut out of this checkout, with the chart that deploys it, to the last byte the same with each release', async (t) => {
  const folder = scratch(t)
  const built = await inParallel(['1.8.0', '1.9.0'], 2, async (release) => {
    const output = path.join(folder, release)
    const given = ['--output', output, '--image', await image(t, { version: release }), '--revision', 'c0ffee', '--json']
    const ended = await runCommand(['release', 'build', release, ...given], { env: {}, makes: true })
    t.is(ended.code, 0, ended.stderr)
    t.like(JSON.parse(ended.stdout), { folder: output, lock: { version: release, images: [`gatehouse:${release}`] } })
    t.true(read(output, 'provenance.intoto.json').includes('c0ffee'))
    return output
  })
  const [charts] = built.map((output) => read(output, 'SHA256SUMS').match(/^.*app-.*$/m)?.[0])
  t.regex(charts ?? '', / app-1\.5\.0\.tgz$/)
  for (const output of built) t.true(read(output, 'SHA256SUMS').includes(charts ?? ''))
  t.regex(read(folder, '1.8.0', 'docs/CHANGELOG.md'), /^# Changelog\n\n.*\n\n## 1\.8\.0 /)
  const lock = JSON.parse(read(folder, '1.8.0', '1.8.0.lock.json')) as { migrations: object }
  t.deepEqual(Object.keys(lock.migrations), [])
})

test('the releases that can be built are all of the table, each with its chart', async (t) => {
  const { status, stdout } = await run(['release', 'build', '--list', '--json'])
  t.is(status, 0)
  const rows = JSON.parse(stdout) as { version: string; chart: string }[]
  t.is(rows.length, 21)
  t.like(
    rows.find((row) => row.version === '1.11.2'),
    { chart: 'app-1.5.1' },
  )
})

test('an image of several platforms has a bill of materials for each', async (t) => {
  const release = await smallRelease({ multiPlatform: true })
  t.teardown(() => release.remove())
  t.deepEqual(
    readdirSync(path.join(release.folder, 'sbom')),
    ['amd64', 'arm64'].map((platform) => `gatehouse-${version}-linux-${platform}.cdx.json`),
  )
})

test('the command line of the release runs where there is only Node', async (t) => {
  const release = await smallRelease({ files: { [imageProgram]: 'console.log(process.argv.slice(2).join())' } })
  t.teardown(() => release.remove())
  const folder = scratch(t)
  execFileSync('tar', ['-xzf', path.join(release.folder, `gatehouse-cli-${version}.tgz`), '-C', folder])
  const file = path.join(folder, `gatehouse-${version}`, cliLauncher)
  t.is(execFileSync(process.execPath, [file, 'bundle', 'verify'], { encoding: 'utf8' }), 'bundle,verify\n')

  const old = path.join(folder, 'old.cjs')
  writeFileSync(old, `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })\n`)
  const { status, stderr } = spawnSync(process.execPath, ['--require', old, file, 'bundle', 'verify'], { encoding: 'utf8' })
  t.is(status, 78)
  t.is(stderr, 'error: Gatehouse needs Node 24 or newer, and this is Node 20.20.2\n')
})

test('the layout of images, the archive of the command line and the page that runs it agree', (t) => {
  t.true(read(root, 'docker/stage.mjs').includes(`import('/${imageProgram}')`))
  t.true(read(root, 'docs/operations/air-gapped-install.md').includes(`node "gatehouse-$RELEASE/${cliLauncher}"`))
})

test('an image without the command line is no release', async (t) => {
  const output = path.join(scratch(t), 'release')
  const { status, stderr } = await build(output, '--image', await image(t, { program: false }))
  t.is(status, 1)
  t.regex(stderr, /^error: file_missing: the image has no app\/program\/gatehouse\.js/m)
})

test('what is not this release is refused', async (t) => {
  const output = path.join(scratch(t), 'release')
  const other = await build(output, '--image', await image(t, { version: '1.0.0' }))
  t.is(other.status, 1)
  t.regex(other.stderr, new RegExp(`^error: version_differs: the image for linux-amd64 says that it is 1\\.0\\.0, not ${version}`, 'm'))
  t.false(existsSync(output))
  t.like(await run(['release', 'build', version]), { status: 2 })
  t.like(await run(['release', 'build', '9.9.9', '--output', output]), { status: 2 })
  t.regex((await build(output, '--image', path.join(output, 'absent'))).stderr, /^error: file_missing: /m)
  t.regex((await build(root, '--image', await image(t))).stderr, /^error: version_exists: .* is not empty/m)
  const notes = path.join(scratch(t), 'notes.txt')
  writeFileSync(notes, 'mine')
  t.regex((await build(notes, '--image', await image(t))).stderr, /^error: file_exists: .*notes\.txt is no folder/m)
  t.is(read(notes), 'mine')
  const unbased = await build(output, '--builder', 'node', '--base', '/nowhere')
  t.regex(unbased.stderr, /^error: file_missing: there is no \/nowhere\/debian\.tar: name the folder that docker\/base\.sh made/m)
})

test('an image that hides what it consists of is refused', async (t) => {
  await t.throwsAsync(smallRelease({ files: { 'app/node_modules/.package-lock.json': '{}' } }), {
    message: /^manifest_malformed: .*package-lock/,
  })
})

test('an image with a binary that no package brought is refused', async (t) => {
  await t.throwsAsync(smallRelease({ files: { 'app/node_modules/addon/build.node': '\u007fELF and more' } }), {
    message: /^manifest_malformed: the image has \/app\/node_modules\/addon\/build\.node, and none of its packages/,
  })
})
