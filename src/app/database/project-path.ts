import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A file or folder of the installation, found upwards from this file, so that `src/*.ts` and built code find the same one; null when absent. */
export function findProjectPath(relative: string): string | null {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, relative)
    if (existsSync(candidate)) return candidate
    if (folder === dirname(folder)) return null
  }
}
