import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { makeAuthority, makeCertificate } from '../../support/certificates.ts'
import { gatehouseHere as run } from '../../support/cli.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../../src/app/database/embedded/port.ts'
import { startRegistry, type RegistryBehaviour, type TestRegistry } from '../../support/registry.ts'
import { smallRelease, type SmallRelease } from '../../support/small-release.ts'

let release: SmallRelease
let bundle: string

test.before(async () => {
  release = await smallRelease({ multiPlatform: true })
  bundle = path.join(release.scratch, 'bundle.tar')
  await run(['bundle', 'create', release.folder, '--key', release.privateKey, '--output', bundle])
  await run(['release', 'sign', release.folder, '--key', release.privateKey])
})
test.after.always(() => release.remove())

async function registry(t: ExecutionContext, behaviour: RegistryBehaviour = {}): Promise<TestRegistry> {
  const started = await startRegistry(behaviour)
  t.teardown(() => started.close())
  return started
}

const load = (to: string, ...args: readonly string[]) => run(['bundle', 'load', bundle, '--key', release.publicKey, '--to', to, ...args])
const publish = (to: string, ...args: readonly string[]) =>
  run(['release', 'publish', release.folder, '--key', release.publicKey, '--without-nightly', '--to', to, ...args])

interface Pushed {
  readonly reference: string
  readonly digest: string
  readonly sent: number
  readonly known: number
}
const pushed = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout) as readonly Pushed[]

const digestOf = (text: string | Buffer) => `sha256:${createHash('sha256').update(text).digest('hex')}`

/** The digests in the release. */
const locked = () =>
  (JSON.parse(readFileSync(path.join(release.folder, `${release.version}.lock.json`), 'utf8')) as { digests: Record<string, string> })
    .digests

test('a bundle is loaded into a registry with its digests, and again with nothing to send', async (t) => {
  const target = await registry(t)
  const first = await load(`${target.origin}/mirror/ai`, '--json')
  t.is(first.status, 0, first.stderr)
  t.deepEqual(
    pushed(first).map(({ reference, digest }) => [reference, digest]),
    [
      [`${target.host}/mirror/ai/gatehouse:${release.version}`, locked()[`gatehouse:${release.version}`]],
      [`${target.host}/mirror/ai/charts/app:1.6.0`, locked()['charts/app:1.6.0']],
    ],
  )
  const chart = target.manifests.get('mirror/ai/charts/app:1.6.0')
  t.is(locked()['charts/app:1.6.0'], digestOf(chart?.text ?? ''))
  const { config, layers } = JSON.parse(chart?.text ?? '') as {
    config: { mediaType: string; digest: string }
    layers: { digest: string; mediaType: string }[]
  }
  t.is(config.mediaType, 'application/vnd.cncf.helm.config.v1+json')
  t.deepEqual(target.blobs.get(`mirror/ai/charts/app@${layers[0]?.digest}`), readFileSync(path.join(release.folder, 'app-1.6.0.tgz')))
  t.like(JSON.parse(target.blobs.get(`mirror/ai/charts/app@${config.digest}`)?.toString() ?? ''), {
    name: 'app',
    version: '1.6.0',
    apiVersion: 'v2',
  })
  const second = await load(`${target.origin}/mirror/ai`, '--json')
  t.true(pushed(second).every(({ sent, known }) => sent === 0 && known > 0))
})

test('a second registry has the same digests', async (t) => {
  const [one, other] = [await registry(t), await registry(t)]
  const [first, second] = [await load(one.origin, '--json'), await load(other.origin, '--json')]
  t.deepEqual(
    pushed(first).map(({ digest }) => digest),
    pushed(second).map(({ digest }) => digest),
  )
  t.deepEqual([...one.blobs.keys()].toSorted(), [...other.blobs.keys()].toSorted())
})

test('nothing is sent of a bundle that is not as it was signed', async (t) => {
  const target = await registry(t)
  const broken = path.join(mkdtempSync(path.join(release.scratch, 'broken-')), 'b.tar')
  const bytes = readFileSync(bundle)
  bytes.write('V2', bytes.indexOf('"v2"') + 1)
  writeFileSync(broken, bytes)
  const { status, stderr } = await run(['bundle', 'load', broken, '--key', release.publicKey, '--to', target.origin])
  t.is(status, 1)
  t.regex(stderr, /^error: blob_changed: blobs\/sha256\//m)
  t.deepEqual(target.requests, [])
})

test('a tag that names something else is moved only when that is asked for', async (t) => {
  const target = await registry(t)
  const other = await smallRelease({ files: { 'app/other.js': 'x' } })
  t.teardown(() => other.remove())
  const theirs = path.join(other.scratch, 'b.tar')
  await run(['bundle', 'create', other.folder, '--key', other.privateKey, '--output', theirs])
  await run(['bundle', 'load', theirs, '--key', other.publicKey, '--to', target.origin])
  const before = target.manifests.get(`gatehouse:${release.version}`)?.text
  const refused = await load(target.origin)
  t.is(refused.status, 1)
  t.regex(
    refused.stderr,
    new RegExp(`version_exists: ${target.host}/gatehouse:${release.version} is ${digestOf(before ?? '')} in the registry`),
  )
  t.is(target.manifests.get(`gatehouse:${release.version}`)?.text, before)
  t.is((await load(target.origin, '--replace')).status, 0)
  t.not(target.manifests.get(`gatehouse:${release.version}`)?.text, before)
})

test('a difference is loaded where the rest is, and names what is missing elsewhere', async (t) => {
  const next = await smallRelease({ files: { 'app/new.js': 'changed' }, multiPlatform: true })
  t.teardown(() => next.remove())
  const [whole, difference] = ['whole.tar', 'difference.tar'].map((name) => path.join(next.scratch, name)) as [string, string]
  await run(['bundle', 'create', next.folder, '--key', release.privateKey, '--output', whole])
  await run(['bundle', 'diff', whole, '--from', bundle, '--output', difference])
  const loadIt = (to: string) => run(['bundle', 'load', difference, '--key', release.publicKey, '--to', to, '--replace', '--json'])
  const [full, empty] = [await registry(t), await registry(t)]
  await load(full.origin)
  const { status, stderr } = await loadIt(empty.origin)
  t.is(status, 1)
  t.regex(
    stderr,
    new RegExp(`^error: blob_missing: blobs/sha256/[0-9a-f]{64} was left out, and ${empty.host}/gatehouse does not have it`, 'm'),
  )
  const loaded = await loadIt(full.origin)
  t.is(loaded.status, 0, loaded.stderr)
  t.true(pushed(loaded).every(({ known }) => known > 0))
})

test('a difference whose base is only half there is refused before anything is sent', async (t) => {
  const next = await smallRelease({ files: { 'app/new.js': 'changed again' } })
  t.teardown(() => next.remove())
  const [whole, difference] = ['whole.tar', 'difference.tar'].map((name) => path.join(next.scratch, name)) as [string, string]
  await run(['bundle', 'create', next.folder, '--key', release.privateKey, '--output', whole])
  await run(['bundle', 'diff', whole, '--from', bundle, '--output', difference])
  let forgets = false
  const target = await registry(t, {
    fault: (method, at) => (forgets && method === 'HEAD' && at.includes('/charts/app/blobs/') ? 404 : undefined),
  })
  await load(target.origin)
  forgets = true
  const before = target.requests.length
  const refused = await run(['bundle', 'load', difference, '--key', release.publicKey, '--to', target.origin, '--replace'])
  t.is(refused.status, 1)
  t.regex(refused.stderr, /^error: blob_missing: .*\/charts\/app does not have it: load the earlier bundle first/m)
  t.deepEqual(
    target.requests.slice(before).filter((request) => !/^(?:GET|HEAD) /.test(request)),
    [],
  )
})

const credentials = (t: ExecutionContext, password = 'a password') => {
  const file = path.join(mkdtempSync(path.join(release.scratch, 'password-')), 'password')
  writeFileSync(file, `${password}\n`)
  t.truthy(file)
  return ['--username', 'robot$mirror', '--password-file', file]
}

for (const scheme of ['basic', 'bearer'] as const)
  test(`a registry that wants to know who asks: ${scheme}`, async (t) => {
    const target = await registry(t, { login: { scheme, username: 'robot$mirror', password: 'a password' } })
    t.is((await load(`${target.origin}/m`, ...credentials(t))).status, 0)
    t.true(target.manifests.has(`m/gatehouse:${release.version}`))
    for (const args of [[], credentials(t, 'wrong')]) {
      const { status, stderr } = await load(`${target.origin}/n`, ...args)
      t.is(status, 1)
      t.regex(stderr, /^error: registry_refused: /m)
      t.notRegex(stderr, /wrong|a password/)
    }
  })

test('credentials go to no other host than the one that was named', async (t) => {
  const thief = await registry(t)
  // The same machine under another name.
  const elsewhere = thief.origin.replace('127.0.0.1', 'localhost')
  const login = { scheme: 'bearer', username: 'robot$mirror', password: 'a password', realm: `${elsewhere}/token` } as const
  const tokens = await load((await registry(t, { login })).origin, ...credentials(t))
  t.regex(tokens.stderr, /gives its tokens at localhost:\d+, another host/)
  const uploads = await load((await registry(t, { uploadsAt: elsewhere })).origin, ...credentials(t))
  t.regex(uploads.stderr, /sends uploads to localhost:\d+, another host/)
  t.deepEqual(thief.requests, [])
})

const faults: readonly (readonly [what: string, fault: NonNullable<RegistryBehaviour['fault']>, message: RegExp])[] = [
  [
    'an upload',
    (method) => (method === 'PATCH' ? 507 : undefined),
    /answers 507 for the blob sha256:[0-9a-f]{64}: FAULT as the test wants/,
  ],
  ['the end of an upload', (method, at) => (method === 'PUT' && at.includes('uploads') ? 400 : undefined), /answers 400 for the blob/],
  ['a blob', (method, at) => (method === 'HEAD' && at.includes('/blobs/') ? 403 : undefined), /answers 403 for the blob/],
  ['a manifest', (method, at) => (method === 'PUT' && at.includes('/manifests/') ? 413 : undefined), /answers 413 for .*gatehouse:/],
]
for (const [what, fault, message] of faults)
  test(`a registry that refuses ${what} is quoted, and the next load goes on`, async (t) => {
    let broken = true
    const target = await registry(t, { fault: (method, at) => (broken ? fault(method, at) : undefined) })
    const { status, stderr } = await load(target.origin)
    t.is(status, 1)
    t.regex(stderr, message)
    t.false([...target.manifests.keys()].some((name) => name.includes(`:${release.version}`)))
    broken = false
    t.is((await load(target.origin)).status, 0)
  })

test('a registry that is not there ends with 69', async (t) => {
  const { status, stderr } = await load(`http://127.0.0.1:${await freePort()}`)
  t.is(status, 69)
  t.regex(stderr, /registry_unreachable: 127\.0\.0\.1:\d+: The registry could not be reached: it refused the connection/)
})

test('a registry on HTTPS is believed by the authority that is named', async (t) => {
  const authority = makeAuthority('a private authority')
  const target = await registry(t, { tls: makeCertificate(authority, 'localhost') })
  const stranger = await load(target.host)
  t.is(stranger.status, 69)
  t.regex(stranger.stderr, /its TLS certificate/)
  const known = await load(target.host, '--ca', authority.certFile)
  t.is(known.status, 0, known.stderr)
  t.true(target.manifests.has(`gatehouse:${release.version}`))
  t.like(await load(target.host, '--ca', bundle), { status: 2 })
})

test('a release is published once', async (t) => {
  const target = await registry(t)
  t.is((await publish(target.origin)).status, 0)
  const before = target.manifests.size
  const again = await publish(target.origin)
  t.is(again.status, 1)
  t.regex(again.stderr, new RegExp(`version_exists: ${target.host}/gatehouse:${release.version} is published as sha256:`))
  t.is(target.manifests.size, before)
})

test('a publication that was stopped is finished, and one of something else refused', async (t) => {
  const [half, other] = [await registry(t), await registry(t)]
  await publish(half.origin)
  ;(half.manifests as Map<string, unknown>).delete('charts/app:1.6.0')
  t.is((await publish(half.origin)).status, 0)
  ;(other.manifests as Map<string, unknown>).set('charts/app:1.6.0', { mediaType: 'text/plain', text: 'something else' })
  const refused = await publish(other.origin)
  t.is(refused.status, 1)
  t.regex(
    refused.stderr,
    new RegExp(`version_exists: ${other.host}/charts/app:1\\.6\\.0 is published as ${digestOf('something else')}$`, 'm'),
  )
  t.is(other.manifests.size, 1)
})

for (const status of [401, 403, 429, 500, 503])
  test(`a release is not published where the registry does not tell what it has: ${status}`, async (t) => {
    const target = await registry(t, { fault: (method, at) => (method === 'HEAD' && at.includes('/manifests/') ? status : undefined) })
    t.is((await publish(target.origin)).status, 1)
    t.is(target.manifests.size, 0)
    t.is(target.blobs.size, 0)
  })

test('a release is verified before it is published', async (t) => {
  const target = await registry(t)
  const other = await smallRelease()
  t.teardown(() => other.remove())
  const send = () => run(['release', 'publish', other.folder, '--key', other.publicKey, '--without-nightly', '--to', target.origin])
  t.regex((await send()).stderr, /^error: signature_missing: /)
  t.is((await run(['release', 'sign', other.folder, '--key', other.privateKey])).status, 0)
  t.is((await run(['release', 'verify', other.folder, '--key', other.publicKey, '--without-nightly'])).status, 0)
  writeFileSync(path.join(other.folder, 'more'), '')
  for (const refused of [await send(), await run(['release', 'verify', other.folder, '--key', other.publicKey, '--without-nightly'])])
    t.regex(refused.stderr, /^error: file_unlisted: more /)
  t.deepEqual(target.requests, [])
})

test('options that do not fit end with 2', async (t) => {
  t.like(await load('registry.example', '--username', 'me'), { status: 2 })
  t.like(await load('not a registry'), { status: 2 })
  t.like(await run(['bundle', 'load', bundle, '--to', 'registry.example']), { status: 2 })
})

const debianRegistry = (() => {
  try {
    return execFileSync('sh', ['-c', 'command -v docker-registry'], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
})()

const withRegistry = debianRegistry === null ? test.skip : test
withRegistry(
  `${debianRegistry === null ? 'SKIPPED (docker-registry is not installed): ' : ''}Debian's registry takes a bundle and gives it back`,
  async (t) => {
    const folder = mkdtempSync(path.join(release.scratch, 'registry-'))
    const port = await freePort()
    mkdirSync(path.join(folder, 'data'))
    writeFileSync(
      path.join(folder, 'config.yml'),
      `version: 0.1\nstorage: {filesystem: {rootdirectory: ${folder}/data}}\nhttp: {addr: 127.0.0.1:${port}}\n`,
    )
    const server = spawn(debianRegistry ?? '', ['serve', path.join(folder, 'config.yml')], { stdio: 'ignore' })
    t.teardown(() => server.kill('SIGKILL'))
    const origin = `http://127.0.0.1:${port}`
    await eventually(async () => (await fetch(`${origin}/v2/`).catch(() => null))?.ok === true, 20_000, 'the registry')
    const loaded = await load(`${origin}/mirror`, '--json')
    t.is(loaded.status, 0, loaded.stderr)
    for (const { reference, digest } of pushed(loaded)) {
      const [, repository = '', tag = ''] = /^[^/]+\/(.+):(.+)$/.exec(reference) ?? []
      const accept = 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json'
      const manifest = await fetch(`${origin}/v2/${repository}/manifests/${tag}`, { headers: { accept } })
      t.is(digestOf(await manifest.text()), digest)
    }
    t.true(pushed(await load(`${origin}/mirror`, '--json')).every(({ sent }) => sent === 0))
    t.is((await publish(`${origin}/mirror`)).status, 1)
    t.is((await publish(`${origin}/other`)).status, 0)
  },
)
