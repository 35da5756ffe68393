import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { startRegistry, type TestRegistry } from '../../test/support/registry.ts'
import { inParallel } from '../../test/support/in-parallel.ts'
import type { Build } from '../rehearse/build.ts'
import { walk } from '../rehearse/scenarios/rollback.ts'
import { rollingUpgrade } from '../rehearse/scenarios/side-by-side.ts'
import type { Built } from './build.ts'
import { containerBuild } from './container-build.ts'
import type { Report } from '../report.ts'

const execute = promisify(execFile)

/** The releases whose images are upgraded, beside the one that this checkout is. */
const earlier = ['1.6.2', '1.8.0']

interface Upgrades {
  readonly work: string
  readonly built: Built
  readonly report: Report
}

/** Carries images of earlier releases into a closed network as bundles, and upgrades containers of one to containers of the next. */
export async function checkUpgrades({ work, built, report }: Upgrades): Promise<void> {
  const folder = (name: string) => path.join(work, 'upgrades', name)
  await mkdir(folder('builds'), { recursive: true })
  const cuts = await report.check(`${earlier.join(' and ')} are cut out of this checkout and built`, () =>
    inParallel(earlier, 2, async (release) => ({ release, folder: await built.buildEarlier(release) })),
  )
  if (cuts === null) return
  const releases = [...cuts, { release: built.version, folder: built.release }]
  const registry = await startRegistry()
  const builds: Build[] = []
  try {
    for (const { release, folder: from } of releases) {
      const unpacked = folder(`bundle-${release}`)
      await report.check(`the bundle of ${release} is verified, unpacked, and loaded into a registry, from which a runtime pulls it`, () =>
        carry({ release, from, unpacked, work, registry, gatehouse: built.gatehouse }),
      )
      builds.push(await containerBuild(unpacked, { release, work: folder(`containers-${release}`) }))
    }
    const way = releases.map(({ release }) => release).join(', ')
    await report.check(
      `containers of ${way} in turn on one PostgreSQL: migrated, tried, rolled back, finalized, and the former refused`,
      () => none(walk(builds)),
    )
    const [old, next] = [builds.at(-2), builds.at(-1)]
    if (old === undefined || next === undefined) return
    await report.check(`containers of ${old.release} and ${next.release} at once, under load, without one failed request`, async () => {
      const { faults, requests } = await rollingUpgrade(3, { old, next })
      report.figure('requests while containers were replaced', String(requests))
      await none(Promise.resolve(faults))
    })
  } finally {
    await Promise.all([registry.close(), ...builds.map((build) => build.remove())])
  }
}

async function none(found: Promise<readonly string[]>): Promise<void> {
  assert.deepEqual(await found, [])
}

interface Carried {
  readonly release: string
  readonly from: string
  readonly unpacked: string
  readonly work: string
  readonly registry: TestRegistry
  readonly gatehouse: Built['gatehouse']
}

/** Follows docs/operations/air-gapped-install.md, on both sides. */
async function carry({ release, from, unpacked, work, registry, gatehouse }: Carried): Promise<void> {
  const [key, pub, file] = ['release.key', 'gatehouse.pub', `bundle-${release}.tar`].map((name) => path.join(work, name)) as [
    string,
    string,
    string,
  ]
  await gatehouse('release', 'sign', from, '--key', key)
  await gatehouse('bundle', 'create', from, '--key', key, '--output', file)
  await gatehouse('bundle', 'verify', file, '--key', pub)
  await mkdir(unpacked)
  await execute('tar', ['-xf', file, '-C', unpacked])
  await execute('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: unpacked })
  // The closed network has no other command line than that of the bundle.
  await execute('tar', ['-xzf', path.join(unpacked, `gatehouse-cli-${release}.tgz`), '-C', unpacked])
  const own = path.join(unpacked, `gatehouse-${release}`, 'gatehouse.cjs')
  await execute(process.execPath, [own, 'bundle', 'load', file, '--key', pub, '--to', `${registry.origin}/mirror`])
  const { digests } = JSON.parse(await readFile(path.join(unpacked, `${release}.lock.json`), 'utf8')) as { digests: Record<string, string> }
  const digest = digests[`gatehouse:${release}`] ?? ''
  const storage = ['--root', path.join(work, 'storage'), '--runroot', path.join(work, 'storage-run'), '--storage-driver', 'vfs']
  const image = `docker://${registry.host}/mirror/gatehouse@${digest}`
  await execute('buildah', [...storage, 'pull', '--quiet', '--tls-verify=false', image])
  const { stdout } = await execute('buildah', [...storage, 'images', '--digests', '--noheading', '--format', '{{.Digest}}'])
  assert.ok(stdout.split('\n').includes(digest), `${image} was pulled as ${stdout}`)
}
