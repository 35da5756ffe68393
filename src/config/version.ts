import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { compareVersions } from '../release/version.ts'

const Manifest = z.object({ name: z.literal('gatehouse'), version: z.string() })

/** The release that this build is: the version in our package.json, which lies above the sources and above the build. */
export function version(folder: string = import.meta.dirname): string {
  const file = path.join(folder, 'package.json')
  const manifest = existsSync(file) ? Manifest.safeParse(JSON.parse(readFileSync(file, 'utf8'))) : null
  if (manifest?.success) return manifest.data.version
  if (path.dirname(folder) === folder) throw new Error('the package.json of Gatehouse is missing')
  return version(path.dirname(folder))
}

const own = version()

/**
 * Returns true if this build has the additions of a release. A build of an earlier release is made of the same sources: additions of later ones are
 * left out of its settings and of its tables by this alone.
 */
export const isBuiltWith = (release: string): boolean => compareVersions(own, release) >= 0
