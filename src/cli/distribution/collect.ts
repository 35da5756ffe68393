import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { type BuiltInPrices, openBuiltIn } from '../../app/prices/built-in.ts'
import type { BundleFile } from '../../distribution/bundle/create.ts'
import type { BundleInfo } from '../../distribution/bundle/contents.ts'
import { artifactsOf, checkFiles } from '../../distribution/release/folder.ts'
import { releaseFiles, repositories } from '../../distribution/release/names.ts'
import { Lock } from '../../release/record.ts'
import { UsageError } from '../failure.ts'
import { catalogueData } from './catalogue.ts'

/** Returns the files of a release's bundle, except those that its creation adds. Checks the release's files first. */
export async function collectBundle(
  folder: string,
  { onBytes }: { onBytes: (count: number) => void },
): Promise<{ readonly info: BundleInfo; readonly files: readonly BundleFile[] }> {
  const lock = readLock(folder)
  const sums = await checkFiles(folder, onBytes)
  const artifacts = await artifactsOf(folder)
  const chart = artifacts.find(({ name }) => name.startsWith(`${repositories.charts}/`))
  const listed = [...sums.keys()].map((file) => ({ path: placeInBundle(file), from: path.join(folder, file) }))
  const files = [...listed, { path: 'data/providers.json', from: Buffer.from(catalogueData()) }]
  const info = {
    format: 1,
    product: 'gatehouse',
    release: lock.version,
    chart: chart?.tag ?? null,
    artifacts: artifacts.map(({ name, tag, descriptor: { digest } }) => ({ name, tag, digest })),
    prices: pricesOf(openBuiltIn()),
  } as const
  return { info, files }
}

const pricesOf = ({ asOf, digest }: BuiltInPrices) => ({ as_of: asOf, digest })

/** The layout lies open in a bundle, so that every tool that reads layouts reads the unpacked archive. */
const placeInBundle = (file: string) => (file.startsWith(`${releaseFiles.layout}/`) ? file.slice(releaseFiles.layout.length + 1) : file)

function readLock(folder: string): Lock {
  const present = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
  const name = present.find((file) => file.endsWith('.lock.json'))
  if (name === undefined) throw new UsageError(`${folder} is no release: it has no <version>.lock.json`)
  return Lock.parse(JSON.parse(readFileSync(path.join(folder, name), 'utf8')))
}
