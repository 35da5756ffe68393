import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { openArchive } from '../../../src/distribution/bundle/archive.ts'
import { fileOf, writeTar, type TarInput } from '../../../src/distribution/tar/write.ts'
import { hasOpenssl } from '../../support/certificates.ts'
import { gatehouseHere as run, root } from '../../support/cli.ts'
import { smallRelease, writeKeys, type SmallRelease } from '../../support/small-release.ts'

let release: SmallRelease
let bundle: string

test.before(async (t) => {
  release = await smallRelease()
  bundle = path.join(release.scratch, 'whole.tar')
  const created = await run(['bundle', 'create', release.folder, '--key', release.privateKey, '--output', bundle])
  t.is(created.status, 0, created.stderr)
})
test.after.always(() => release.remove())

const verify = (file: string, ...args: readonly string[]) =>
  run(['bundle', 'verify', file, ...(args.length > 0 ? args : ['--key', release.publicKey])])

interface Member {
  readonly path: string
  readonly bytes: Buffer
}

async function membersOf(file: string): Promise<readonly Member[]> {
  const archive = await openArchive(file)
  const members = []
  for (const name of archive.files.keys()) members.push({ path: name, bytes: Buffer.concat(await Array.fromAsync(archive.read(name))) })
  await archive.close()
  return members
}

/** A bundle in which the test changed something. */
async function tampered(change: (members: readonly Member[]) => readonly Member[]): Promise<string> {
  const file = path.join(mkdtempSync(path.join(release.scratch, 'tampered-')), 'b.tar')
  const members = change(await membersOf(bundle))
  writeFileSync(file, Buffer.concat(await Array.fromAsync(writeTar(members.map(({ path: name, bytes }) => fileOf(name, bytes))))))
  return file
}

const flipped = (bytes: Buffer) => {
  const copy = Buffer.from(bytes)
  copy.writeUInt8((copy[Math.floor(copy.length / 2)] ?? 0) ^ 1, Math.floor(copy.length / 2))
  return copy
}
const change = (name: (path: string) => boolean, how: (bytes: Buffer) => Buffer) => (members: readonly Member[]) =>
  members.map((member) => (name(member.path) ? { ...member, bytes: how(member.bytes) } : member))
const without = (name: (path: string) => boolean) => (members: readonly Member[]) => members.filter((member) => !name(member.path))
const is = (wanted: string) => (name: string) => name === wanted

test('a bundle is verified whole, for people and for programs', async (t) => {
  const { status, stdout } = await verify(bundle)
  t.is(status, 0)
  t.regex(stdout, new RegExp(`is the bundle of ${release.version}, unchanged: \\d+ files, .* signed by sha256:[0-9a-f]{64}\\.`))
  t.regex(stdout, /Its price catalogue is of \d{4}-\d\d-\d\d, digest [0-9a-f]{16}\./)
  const facts = JSON.parse((await verify(bundle, '--key', release.publicKey, '--json')).stdout) as Record<string, unknown>
  t.like(facts, { verified: true, release: release.version, difference: null })
  t.deepEqual(
    (facts['artifacts'] as { name: string }[]).map(({ name }) => name),
    ['gatehouse', 'charts/app'],
  )
  const names = (await membersOf(bundle)).map((member) => member.path)
  const expected = ['SHA256SUMS', 'SHA256SUMS.sig', 'bundle.json', 'gatehouse.pub', 'index.json', 'oci-layout', 'provenance.intoto.json']
  for (const name of [...expected, 'data/providers.json', 'docs/README.md', 'docs/CHANGELOG.md', `gatehouse-cli-${release.version}.tgz`])
    t.true(names.includes(name), name)
  t.true(names.some((name) => name.startsWith('sbom/')))
})

test('a key is believed by its fingerprint, and by nothing less', async (t) => {
  const { keyFingerprint } = JSON.parse((await verify(bundle, '--key', release.publicKey, '--json')).stdout) as { keyFingerprint: string }
  t.is((await verify(bundle, '--key-fingerprint', keyFingerprint)).status, 0)
  const other = await verify(bundle, '--key-fingerprint', `sha256:${'0'.repeat(64)}`)
  t.is(other.status, 1)
  t.regex(other.stderr, /^error: signature_wrong: the key in gatehouse\.pub has the fingerprint sha256:/)
  t.like(await run(['bundle', 'verify', bundle]), { status: 2, stdout: '' })
  t.like(await verify(bundle, '--key-fingerprint', 'sha256:abc'), { status: 2 })
})

const blob = (name: string) => name.startsWith('blobs/')
const refusals: readonly (readonly [what: string, build: () => Promise<string>, code: string, names: RegExp])[] = [
  ['a flipped byte in a blob', () => tampered(change(blob, flipped)), 'blob_changed', /blobs\/sha256\/[0-9a-f]{64} is not what was signed/],
  [
    'a flipped byte in a file',
    () => tampered(change(is('docs/README.md'), flipped)),
    'file_changed',
    /docs\/README\.md is not what was signed/,
  ],
  [
    'a flipped byte in the list',
    () => tampered(change(is('SHA256SUMS'), flipped)),
    'signature_wrong',
    /SHA256SUMS\.sig is not a signature of SHA256SUMS/,
  ],
  [
    'a flipped byte in the signature',
    () => tampered(change(is('SHA256SUMS.sig'), flipped)),
    'signature_wrong',
    /SHA256SUMS\.sig is not a signature/,
  ],
  ['a missing blob', () => tampered(without(blob)), 'blob_missing', /blobs\/sha256\/[0-9a-f]{64} is missing/],
  ['a missing file', () => tampered(without(is('bundle.json'))), 'file_missing', /bundle\.json is missing/],
  ['a missing list', () => tampered(without(is('SHA256SUMS'))), 'file_missing', /there is no SHA256SUMS/],
  ['no signature', () => tampered(without(is('SHA256SUMS.sig'))), 'signature_missing', /nobody signed this/],
  [
    'a file too many',
    () => tampered((all) => [...all, { path: 'docs/new.md', bytes: Buffer.from('x') }]),
    'file_unlisted',
    /docs\/new\.md is not named/,
  ],
  ['a file twice', () => tampered((all) => [...all, ...all.slice(-1)]), 'archive_malformed', /comes twice/],
  [
    'a path that leads out',
    () => tampered((all) => [...all, { path: '../x', bytes: Buffer.from('x') }]),
    'archive_malformed',
    /"\.\.\/x" leads out/,
  ],
  [
    'bytes behind its end',
    () => appended(Buffer.alloc(5000, 'x')),
    'archive_malformed',
    /ends at byte \d+, and there is more from byte \d+ on/,
  ],
  ['two bundles in one file', () => appended(readFileSync(bundle)), 'archive_malformed', /and there is more from byte/],
  ['a folder', () => Promise.resolve(release.folder), 'archive_malformed', /is a folder: name the archive itself/],
  [
    'a file that is no archive',
    () => appended(Buffer.alloc(0), Buffer.alloc(2048, 'x')),
    'archive_malformed',
    /this is no tar archive, or not the first part of one/,
  ],
  ['half an archive', () => Promise.resolve(truncated()), 'archive_malformed', /breaks off at byte/],
  [
    'a difference that claims what it likes',
    () =>
      tampered((all) => [
        ...without(is('docs/README.md'))(all),
        { path: 'DIFFERENCE.json', bytes: Buffer.from(JSON.stringify({ from: '1', omitted: ['docs/README.md'] })) },
      ]),
    'manifest_malformed',
    /DIFFERENCE\.json is malformed/,
  ],
]

/** A bundle, or something else, with bytes behind it. */
function appended(bytes: Buffer, to = readFileSync(bundle)): Promise<string> {
  const file = path.join(mkdtempSync(path.join(release.scratch, 'appended-')), 'b.tar')
  writeFileSync(file, Buffer.concat([to, bytes]))
  return Promise.resolve(file)
}

function truncated(): string {
  const file = path.join(release.scratch, 'truncated.tar')
  writeFileSync(file, readFileSync(bundle).subarray(0, 5000))
  return file
}

for (const [what, build, code, names] of refusals)
  test(`refused: ${what}`, async (t) => {
    const file = await build()
    const { status, stderr } = await verify(file)
    t.is(status, 1)
    t.true(stderr.startsWith(`error: ${code}: `), stderr)
    t.regex(stderr, names)
    const { stdout } = await verify(file, '--key', release.publicKey, '--json')
    t.like(JSON.parse(stdout), { verified: false, code })
  })

test('refused: the signature of another key', async (t) => {
  const { publicKey } = await writeKeys(mkdtempSync(path.join(release.scratch, 'keys-')))
  const { status, stderr } = await verify(bundle, '--key', publicKey)
  t.is(status, 1)
  t.regex(stderr, /^error: signature_wrong: /)
})

test('keys that cannot sign are refused by what they are', async (t) => {
  const folder = mkdtempSync(path.join(release.scratch, 'keys-'))
  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  const p384 = write(
    'p384',
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  )
  const rsa = write('rsa', generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }).toString())
  const output = path.join(folder, 'none.tar')
  const create = (key: string) => run(['bundle', 'create', release.folder, '--key', key, '--output', output])
  t.regex((await create(p384)).stderr, /^error: key_unusable: the private key .* secp384r1/)
  t.regex((await create(write('text', 'no key'))).stderr, /^error: key_unusable: .*no line "-----BEGIN"/)
  t.regex((await create(release.publicKey)).stderr, /^error: key_unusable: .*this is a public key/)
  t.regex((await verify(bundle, '--key', rsa)).stderr, /^error: key_unusable: the public key .* rsa/)
  t.regex((await verify(bundle, '--key', release.privateKey)).stderr, /this is a private key/)
  t.like(await verify(bundle, '--key', path.join(folder, 'absent')), { status: 2 })
  t.false(readdirSync(folder).some((name) => name.startsWith('none')))
})

test('a key with a passphrase signs', async (t) => {
  const folder = mkdtempSync(path.join(release.scratch, 'keys-'))
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const locked = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' })
  for (const [name, text] of [
    ['key', locked],
    ['pub', publicKey.export({ type: 'spki', format: 'pem' })],
    ['pass', 'open sesame\n'],
    ['wrong', 'x\n'],
  ] as const)
    writeFileSync(path.join(folder, name), text)
  const signed = ['bundle', 'create', release.folder, '--key', path.join(folder, 'key'), '--output', path.join(folder, 'b.tar')]
  const create = (pass: string) => run([...signed, '--passphrase-file', path.join(folder, pass)])
  t.regex((await create('wrong')).stderr, /^error: key_unusable: .*the passphrase does not open it/)
  t.regex((await run(signed)).stderr, /^error: key_unusable: .*it is encrypted, .* give --passphrase-file/)
  t.is((await create('pass')).status, 0)
  t.is((await verify(path.join(folder, 'b.tar'), '--key', path.join(folder, 'pub'))).status, 0)
})

test('a release that was touched after it was built is not bundled', async (t) => {
  const other = await smallRelease()
  t.teardown(() => other.remove())
  writeFileSync(path.join(other.folder, 'app-1.6.0.tgz'), 'x')
  const { status, stderr } = await run([
    'bundle',
    'create',
    other.folder,
    '--key',
    other.privateKey,
    '--output',
    path.join(other.scratch, 'b.tar'),
  ])
  t.is(status, 1)
  t.regex(stderr, /^error: file_changed: app-1\.6\.0\.tgz /)
  t.false(readdirSync(other.scratch).includes('b.tar'))
})

test('a bundle in parts is the same bundle, and so are its parts put together', async (t) => {
  const file = path.join(release.scratch, 'parts.tar')
  const split = await run(['bundle', 'create', release.folder, '--key', release.privateKey, '--output', file, '--split', '64K', '--json'])
  const { files } = JSON.parse(split.stdout) as { files: string[] }
  t.true(files.length > 2)
  t.deepEqual(
    files,
    files.map((_, at) => `${file}.${String(at + 1).padStart(3, '0')}`),
  )
  for (const part of files.slice(0, -1)) t.is(statSync(part).size, 64 * 1024)
  for (const name of [file, `${file}.001`, `${file}.002`]) t.is((await verify(name)).status, 0, name)
  const joined = path.join(release.scratch, 'joined.tar')
  writeFileSync(joined, Buffer.concat(files.map((part) => readFileSync(part))))
  t.is((await verify(joined)).status, 0)
  // Other programs fill an archive up with more zeros.
  const padded = path.join(release.scratch, 'padded.tar')
  writeFileSync(padded, Buffer.concat([readFileSync(joined), Buffer.alloc(20_480)]))
  t.is((await verify(padded)).status, 0)
  const short = path.join(release.scratch, 'short.tar.001')
  writeFileSync(short, readFileSync(files[0] ?? ''))
  t.regex((await verify(short)).stderr, /^error: archive_malformed: .* breaks off/)
  t.regex((await verify(path.join(release.scratch, 'absent.tar'))).stderr, /^error: file_missing: /)
})

test('a part that is missing between others is named', async (t) => {
  const folder = mkdtempSync(path.join(release.scratch, 'parts-'))
  for (const number of ['001', '002', '004', '006'])
    writeFileSync(path.join(folder, `b.tar.${number}`), readFileSync(bundle).subarray(0, 5000))
  for (const name of ['b.tar', 'b.tar.001', 'b.tar.004'])
    t.regex((await verify(path.join(folder, name))).stderr, /^error: file_missing: there is no .*b\.tar\.003, but there is .*b\.tar\.006/)
})

test('no bundle is written over what is there, whole or in parts', async (t) => {
  const folder = mkdtempSync(path.join(release.scratch, 'there-'))
  const [whole, parts] = ['whole.tar', 'parts.tar'].map((name) => path.join(folder, name)) as [string, string]
  const bytes = readFileSync(bundle)
  writeFileSync(whole, bytes)
  writeFileSync(`${parts}.004`, bytes)
  const create = (output: string, ...args: readonly string[]) =>
    run(['bundle', 'create', release.folder, '--key', release.privateKey, '--output', output, ...args])
  const diff = (output: string) => run(['bundle', 'diff', bundle, '--from', whole, '--output', output])
  const tries = [
    create(whole),
    create(whole, '--split', '64K'),
    create(parts, '--split', '64K'),
    create(parts),
    create(folder),
    diff(whole),
    diff(bundle),
  ]
  for (const { status, stdout, stderr } of await Promise.all(tries)) {
    t.is(status, 1)
    t.is(stdout, '')
    t.regex(stderr, /^error: file_exists: .* is there already: name another file, or remove it/)
  }
  t.deepEqual(readdirSync(folder).toSorted(), ['parts.tar.004', 'whole.tar'])
  for (const file of [whole, bundle, `${parts}.004`]) t.true(readFileSync(file).equals(bytes))
})

test('where nothing can be read or written, it is said before the work', async (t) => {
  const nowhere = path.join(release.scratch, 'nowhere', 'b.tar')
  const create = (from: string, output: string) => run(['bundle', 'create', from, '--key', release.privateKey, '--output', output])
  const below = path.join(release.privateKey, 'b.tar')
  t.like(await create(release.folder, nowhere), {
    status: 1,
    stderr: `error: file_missing: there is no folder ${path.dirname(nowhere)} to write to\n`,
  })
  t.like(await create(release.folder, below), {
    status: 1,
    stderr: `error: file_missing: there is no folder ${release.privateKey} to write to\n`,
  })
  t.like(await create(release.privateKey, path.join(release.scratch, 'never.tar')), { status: 2 })
  t.regex(
    (await run(['bundle', 'diff', bundle, '--from', bundle, '--output', nowhere])).stderr,
    /^error: file_missing: there is no folder /,
  )
  t.regex((await verify(below)).stderr, /^error: file_missing: there is no /)
})

test('a difference leaves out what the earlier bundle brought, and is verified by the same signature', async (t) => {
  const next = await smallRelease({ files: { 'app/new.js': 'changed' } })
  t.teardown(() => next.remove())
  const [newer, difference] = ['newer.tar', 'difference.tar'].map((name) => path.join(next.scratch, name)) as [string, string]
  await run(['bundle', 'create', next.folder, '--key', release.privateKey, '--output', newer])
  const made = await run(['bundle', 'diff', newer, '--from', bundle, '--output', difference, '--json'])
  t.is(made.status, 0, made.stderr)
  const { omitted, from } = JSON.parse(made.stdout) as { omitted: string[]; from: string }
  t.is(from, release.version)
  const [whole, left, old] = [await membersOf(newer), await membersOf(difference), await membersOf(bundle)].map((all) =>
    all.map((member) => member.path),
  )
  // The base, the chart and their configurations are known; the program's layer and all manifests are not.
  t.true(omitted.length >= 3)
  for (const name of omitted) t.true(old?.includes(name) && whole?.includes(name) && !left?.includes(name), name)
  t.deepEqual([...(left ?? []).filter((name) => name !== 'DIFFERENCE.json'), ...omitted].toSorted(), whole?.toSorted())
  const checked = JSON.parse((await verify(difference, '--key', release.publicKey, '--json')).stdout) as unknown
  t.like(checked, { verified: true, difference: { from, omitted } })
})

test('the unpacked bundle is a layout that other tools read, checked with sha256sum and openssl', (t) => {
  const folder = path.join(release.scratch, 'unpacked')
  mkdirSync(folder)
  const shell = (command: string) =>
    execFileSync('sh', ['-euc', command], { cwd: folder, encoding: 'utf8', env: { ...process.env, bundle, key: release.publicKey } })
  shell('tar -xf "$bundle"')
  t.notThrows(() => shell('sha256sum --check --strict --quiet SHA256SUMS'))
  t.regex(shell('base64 -d SHA256SUMS.sig > s.der; openssl dgst -sha256 -verify "$key" -signature s.der SHA256SUMS'), /Verified OK/)
  t.is(readFileSync(path.join(folder, 'oci-layout'), 'utf8'), '{"imageLayoutVersion":"1.0.0"}')
  const data = JSON.parse(readFileSync(path.join(folder, 'data/providers.json'), 'utf8')) as {
    providers: { id: string; base_urls: string[] }[]
  }
  t.deepEqual(data.providers.find(({ id }) => id === 'openai')?.base_urls, ['https://api.openai.com/v1'])
})

/** The commands of the page for machines without Node, as they stand there. */
const [, openssl = ''] =
  /^## Check it with standard tools$[\s\S]*?^```sh[^\n]*\n([\s\S]*?)^```$/m.exec(
    readFileSync(path.join(root, 'docs/operations/air-gapped-install.md'), 'utf8'),
  ) ?? []

function checkByHand(file: string) {
  const outside = mkdtempSync(path.join(release.scratch, 'by-hand-'))
  const folder = path.join(outside, 'inner')
  mkdirSync(folder)
  copyFileSync(release.publicKey, path.join(folder, 'gatehouse.pub'))
  const { status } = spawnSync('sh', ['-c', openssl], { cwd: folder, env: { ...process.env, BUNDLE: file }, encoding: 'utf8' })
  return { status, unpacked: existsSync(path.join(folder, 'unpacked')), outside: readdirSync(outside) }
}

const byHand = hasOpenssl ? test : test.skip

byHand('openssl, tar and diff take the bundle as it is, and refuse one with more in it before it is unpacked', async (t) => {
  t.regex(openssl, /openssl dgst/)
  t.deepEqual(checkByHand(bundle), { status: 0, unpacked: true, outside: ['inner'] })
  const added =
    (...more: readonly TarInput[]) =>
    async () => {
      const file = path.join(mkdtempSync(path.join(release.scratch, 'added-')), 'b.tar')
      const members = (await membersOf(bundle)).map(({ path: name, bytes }) => fileOf(name, bytes))
      writeFileSync(file, Buffer.concat(await Array.fromAsync(writeTar([...members, ...more]))))
      return file
    }
  const more = Buffer.from('added')
  for (const make of [
    added(fileOf('app-9.9.9.tgz', more)),
    added(fileOf('../escaped', more)),
    added(fileOf('docs/README.md', more)),
    added({ path: 'a-link', type: 'link', mode: 0o777, target: '/etc/passwd' }),
    added({ path: 'docs/README.md', type: 'link', mode: 0o777, target: '/etc/passwd' }),
  ]) {
    const { status, unpacked, outside } = checkByHand(await make())
    t.not(status, 0)
    t.false(unpacked)
    t.deepEqual(outside, ['inner'])
  }
})
