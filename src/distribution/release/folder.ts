import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { KeyObject } from 'node:crypto'
import { fingerprint, readFileChunks } from '../bytes.ts'
import { DistributionFault } from '../fault.ts'
import { readArtifacts, type Artifact } from '../oci/artifacts.ts'
import { folderBlobs, readIndex } from '../oci/layout.ts'
import { publicPem, signText, verifySums, type Trust } from '../sign.ts'
import { formatSums, keyFile, parseSums, signatureFile, sumsFile, type Sums } from '../sums.ts'
import { releaseFiles } from './names.ts'

/** The files that the list does not name. */
const unlisted: ReadonlySet<string> = new Set([sumsFile, signatureFile, keyFile])

/** The files of a release's folder, relative, with `/`, without the list and its signature. */
export async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((file) => !unlisted.has(file))
    .toSorted()
}

/** Writes the list of a folder's files. */
export async function writeSums(folder: string): Promise<Sums> {
  const sums = new Map<string, string>()
  for (const file of await filesOf(folder)) sums.set(file, (await fingerprint(readFileChunks(path.join(folder, file)))).sha256)
  await writeFile(path.join(folder, sumsFile), formatSums(sums))
  return sums
}

const readOptional = (file: string) => readFile(file, 'utf8').catch(() => null)

async function readSums(folder: string): Promise<string> {
  const text = await readOptional(path.join(folder, sumsFile))
  if (text === null) throw new DistributionFault('file_missing', `there is no ${sumsFile} in ${folder}: this is no release`)
  return text
}

/** Checks a release's files against their list. Throws DistributionFault naming the file that is changed, missing or too much. */
export async function checkFiles(folder: string, onBytes?: (count: number) => void): Promise<Sums> {
  const sums = parseSums(await readSums(folder))
  const files = new Set(await filesOf(folder))
  for (const file of files) if (!sums.has(file)) throw new DistributionFault('file_unlisted', `${file} is not named in ${sumsFile}`)
  for (const [file, sha256] of sums) {
    if (!files.has(file)) throw new DistributionFault('file_missing', `${file} is missing`)
    const found = await fingerprint(readFileChunks(path.join(folder, file)), onBytes)
    if (found.sha256 !== sha256)
      throw new DistributionFault('file_changed', `${file} is not what was built: its SHA-256 is ${found.sha256}`)
  }
  return sums
}

/** Signs a release whose files are as they were built. */
export async function signRelease(folder: string, key: KeyObject): Promise<void> {
  await checkFiles(folder)
  await writeFile(path.join(folder, keyFile), publicPem(key))
  await writeFile(path.join(folder, signatureFile), `${signText(await readSums(folder), key)}\n`)
}

/** Checks the signature of a release and its files, and returns the artifacts that it would publish. Throws DistributionFault. */
export async function verifyRelease(
  folder: string,
  { trust, onBytes }: { trust: Trust; onBytes?: (count: number) => void },
): Promise<{ readonly key: KeyObject; readonly artifacts: readonly Artifact[]; readonly files: number }> {
  const signed = {
    sums: await readSums(folder),
    signature: await readOptional(path.join(folder, signatureFile)),
    key: await readOptional(path.join(folder, keyFile)),
  }
  const key = verifySums(signed, trust)
  const sums = await checkFiles(folder, onBytes)
  return { key, artifacts: await artifactsOf(folder), files: sums.size }
}

/** The image and the chart of a release. */
export async function artifactsOf(folder: string): Promise<readonly Artifact[]> {
  const layout = path.join(folder, releaseFiles.layout)
  return readArtifacts((await readIndex(layout)) ?? '', folderBlobs(layout))
}
