import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { mediaTypes } from '../../src/distribution/oci/documents.ts'
import { createLayout } from '../../src/distribution/oci/layout.ts'
import { buildRelease } from '../../tools/release/build.ts'
import { imageProgram } from '../../src/distribution/release/names.ts'
import { fileOf, writeTar, type TarInput } from '../../src/distribution/tar/write.ts'
import { chartFor, findRelease } from '../../src/release/table.ts'
import { readTable } from '../../src/cli/checkout.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** A signed-off release whose image is a few kilobytes, and the keys to sign it with. */
export interface SmallRelease {
  readonly folder: string
  /** A folder for the files of a test. */
  readonly scratch: string
  readonly version: string
  readonly privateKey: string
  readonly publicKey: string
  remove(): Promise<void>
}

export interface SmallReleaseOptions {
  /** Other contents of its image. */
  readonly files?: Readonly<Record<string, string>>
  /** False: its image lacks the command line. */
  readonly program?: boolean
  /** Lists its image as one of two platforms. */
  readonly multiPlatform?: boolean
}

/** Builds it as `release build --image` does, without the rules of `release check`. */
export async function smallRelease(options: SmallReleaseOptions = {}): Promise<SmallRelease> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'gatehouse-release-'))
  const table = readTable(root)
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }
  const record = findRelease(table, version)
  const chart = record === null ? null : chartFor(table, record)
  if (record === null || chart === null) throw new Error(`there is no record of ${version}, or no chart for it`)
  const image = path.join(scratch, 'image')
  await smallImage(image, { version, ...options })
  const folder = path.join(scratch, 'release')
  await buildRelease({
    root,
    output: folder,
    version,
    date: record.date,
    sources: () => Promise.resolve({ record: '', migrations: {} }),
    image,
    builder: 'node',
    variant: 'release',
    base: null,
    nightly: null,
    packages: null,
    allowDirty: true,
    revision: null,
    chart,
    onStep: () => {},
  })
  return { folder, scratch, version, ...(await writeKeys(scratch)), remove: () => rm(scratch, { recursive: true, force: true }) }
}

/** A pair of keys as files: `release.key` and `gatehouse.pub`. */
export async function writeKeys(folder: string): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  const [privateKey, publicKey] = [path.join(folder, 'release.key'), path.join(folder, 'gatehouse.pub')]
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeFile(privateKey, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(publicKey, pair.publicKey.export({ type: 'spki', format: 'pem' }))
  return { privateKey, publicKey }
}

const npmLock = {
  packages: {
    'node_modules/koa': {
      version: '3.3.0',
      license: 'MIT',
      integrity: `sha512-${'A'.repeat(86)}==`,
      dependencies: { '@hapi/accept': '^6' },
    },
    'node_modules/koa/node_modules/@hapi/accept': { version: '6.0.3', license: '(BSD-3-Clause OR MIT)', dependencies: { left: '^1' } },
    'node_modules/left': { version: '1.0.0', license: 'SEE LICENSE IN LICENSE' },
  },
}

const base: Readonly<Record<string, string>> = {
  'usr/lib/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n',
  'usr/local/include/node/node_version.h': '#define NODE_MAJOR_VERSION 24\n#define NODE_MINOR_VERSION 21\n#define NODE_PATCH_VERSION 0\n',
  'var/lib/dpkg/status':
    'Package: libstdc++6\nArchitecture: amd64\nSource: gcc-12 (12.2.0)\nVersion: 12.2.0-14\nMaintainer: Debian GCC\nDescription: x\n more\nStatus: install ok installed\n\n' +
    'Package: gone\nVersion: 1\nStatus: deinstall ok config-files\n\n',
}

/** An image in two layers: a base, and a program. */
export async function smallImage(
  folder: string,
  { version, files = {}, multiPlatform = false, program = true }: SmallReleaseOptions & { version: string },
) {
  const layout = await createLayout(folder)
  const app: Record<string, string> = {
    'app/package.json': '{"dependencies":{"koa":"3.3.0"}}',
    'app/node_modules/.package-lock.json': JSON.stringify(npmLock),
    ...(program && { [imageProgram]: 'console.log("a stand-in")\n' }),
    ...files,
  }
  const layer = async (contents: Readonly<Record<string, string>>) => {
    const members = Object.entries(contents).map(([name, text]): TarInput => fileOf(name, Buffer.from(text)))
    return layout.add(mediaTypes.layer, [gzipSync(Buffer.concat(await Array.fromAsync(writeTar(members))))])
  }
  const layers = [await layer(base), await layer(app)]
  const platform = async (architecture: string) => {
    const config = await layout.addJson(mediaTypes.config, {
      architecture,
      os: 'linux',
      config: { Labels: { 'org.opencontainers.image.version': version } },
      rootfs: { type: 'layers', diff_ids: [] },
    })
    const manifest = await layout.addJson(mediaTypes.manifest, { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers })
    return { ...manifest, platform: { os: 'linux', architecture } }
  }
  const images = multiPlatform ? [await platform('amd64'), await platform('arm64')] : [await platform('amd64')]
  const [single] = images
  const descriptor = multiPlatform
    ? await layout.addJson(mediaTypes.index, { schemaVersion: 2, mediaType: mediaTypes.index, manifests: images })
    : single
  if (descriptor !== undefined) await layout.finish([{ reference: 'gatehouse:built', descriptor }])
}
