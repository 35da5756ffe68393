// The Debian packages of the image are fetched exactly as they were locked, or not at all.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { readUris } from '../../../tools/release/debian/lock.ts'
import { root } from '../../support/cli.ts'

const onDebian = existsSync('/usr/lib/apt/apt-helper') ? test : test.skip
const content = 'what a package holds'
const file = 'debian/pool/main/g/glibc/libc6_2.41-12+deb13u4_all.deb'

interface Scene {
  /** The files of the mirror, by path. */
  readonly mirror: Record<string, string>
  readonly snapshot: Record<string, string>
  readonly asked: string[]
  readonly run: () => Promise<{ readonly status: number | null; readonly stderr: string; readonly fetched: readonly string[] }>
}

async function scene(t: ExecutionContext): Promise<Scene> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-packages-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [mirror, snapshot]: [Record<string, string>, Record<string, string>] = [{}, {}]
  const asked: string[] = []
  const server = createServer((request, response) => {
    const at = decodeURIComponent(request.url ?? '')
    asked.push(at)
    const found = at.startsWith('/snapshot/') ? snapshot[at.slice('/snapshot/'.length)] : mirror[at.slice(1)]
    response.writeHead(found === undefined ? 404 : 200).end(found)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const sha256 = createHash('sha256').update(content).digest('hex')
  const locked = { libc6: { version: '2.41-12+deb13u4', file, sha256 } }
  const lock = path.join(folder, 'lock.json')
  const packages = { amd64: locked, arm64: locked }
  writeFileSync(lock, JSON.stringify({ debian: {}, day: '2026-11-22', wanted: { release: ['libc6'], evaluation: [] }, packages }))
  const target = path.join(folder, 'out')
  async function run() {
    const env = { ...process.env, DEBIAN_CACHE: path.join(folder, 'cache'), DEBIAN_MIRROR: origin, DEBIAN_SNAPSHOT: `${origin}/snapshot` }
    const child = spawn(process.execPath, [path.join(root, 'docker/packages.mjs'), target, 'release', lock], {
      env: { ...env, http_proxy: '', no_proxy: '*' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')])
    return { status: child.exitCode, stderr, fetched: existsSync(target) ? readdirSync(target) : [] }
  }
  return { mirror, snapshot, asked, run }
}

const named = 'libc6_2.41-12+deb13u4_all.deb'

onDebian('a locked package comes from the mirror, and from the cache when the mirror has lost it', async (t) => {
  const { mirror, asked, run } = await scene(t)
  mirror[file] = content
  t.like(await run(), { status: 0, stderr: '', fetched: [named, 'packages.json'] })
  delete mirror[file]
  asked.length = 0
  t.like(await run(), { status: 0, fetched: [named, 'packages.json'] })
  t.deepEqual(asked, [])
})

onDebian('what the mirror has dropped comes from the snapshot of the day of the lock', async (t) => {
  const { snapshot, run } = await scene(t)
  snapshot[file.replace('debian/', 'archive/debian/20261122T235959Z/')] = content
  t.like(await run(), { status: 0, fetched: [named, 'packages.json'] })
})

onDebian('a package that nobody has any more is told with what to do, under an exit code of its own', async (t) => {
  const { run } = await scene(t)
  const { status, stderr, fetched } = await run()
  t.is(status, 4, stderr)
  t.deepEqual(fetched, [])
  t.regex(stderr, /^Debian's mirrors have dropped libc6 2\.41-12\+deb13u4/)
  for (const way of [named, 'DEBIAN_MIRROR', 'gatehouse release lock', '2026-11-22']) t.true(stderr.includes(way), stderr)
})

onDebian('a package that is not the locked one is refused', async (t) => {
  const { mirror, snapshot, run } = await scene(t)
  mirror[file] = 'another content'
  snapshot[file.replace('debian/', 'archive/debian/20261122T235959Z/')] = 'another content too'
  const { status, fetched } = await run()
  t.is(status, 1)
  t.deepEqual(fetched, [])
})

test('what apt says of packages is read', (t) => {
  const sha256 = 'a'.repeat(64)
  const said = `'http://deb.debian.org/debian-security/pool/updates/main/o/openssl/libssl3t64_3.5.7-1%7edeb13u3_amd64.deb' libssl3t64_3.5.7-1~deb13u3_amd64.deb 2458176 SHA256:${sha256}
'http://deb.debian.org/debian/pool/main/a/audit/libaudit1_4.0.2-2%2bdeb13u1_amd64.deb' libaudit1_1%3a4.0.2-2+deb13u1_amd64.deb 57680 SHA256:${sha256}
'http://deb.debian.org/debian/pool/main/x/x/x_1_amd64.deb' x_1_amd64.deb 1 MD5Sum:1
`
  t.deepEqual(readUris(said), [
    [
      'libssl3t64',
      { version: '3.5.7-1~deb13u3', file: 'debian-security/pool/updates/main/o/openssl/libssl3t64_3.5.7-1~deb13u3_amd64.deb', sha256 },
    ],
    ['libaudit1', { version: '1:4.0.2-2+deb13u1', file: 'debian/pool/main/a/audit/libaudit1_4.0.2-2+deb13u1_amd64.deb', sha256 }],
  ])
})
