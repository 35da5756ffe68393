import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { findProjectPath } from '../database/project-path.ts'
import { script, style } from './page.ts'

/** The built files of the web console. */
export interface ConsoleFiles {
  /** The page, with places for the nonce and the base path. */
  readonly page: string
  /** Returns a file in the form that the client takes; null: there is none. */
  file(name: string, encodings: readonly string[]): ConsoleFile | null
}

export interface ConsoleFile {
  readonly type: string
  readonly bytes: Buffer
  readonly encoding: 'br' | 'gzip' | null
}

/** The console of this installation, or the reason for its absence. */
export interface ConsoleSource {
  /** Null: it is not built, or not yet. */
  files(): ConsoleFiles | null
  /** Returns the present step of a build under way; null: there is no build. */
  step(): string | null
}

const BuildRecord = z.object({ files: z.record(z.string(), z.string()) })
const types: Readonly<Record<string, string>> = {
  '.js': script,
  '.css': style,
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}
const forms = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** Returns the console whose files `console/build.mjs` writes; it is read on the first request after it was built. */
export function installedConsole(): ConsoleSource {
  let opened: ConsoleFiles | null = null
  return {
    files: () => (opened ??= openConsole(findProjectPath('assets/console'))),
    step() {
      const file = findProjectPath('.tools/console-build')
      return file === null ? null : readFileSync(file, 'utf8').slice(0, 500)
    },
  }
}

/** An installation without a console. */
export const noConsole: ConsoleSource = { files: () => null, step: () => null }

/** Returns the console in a folder; null: it is not there, or not completely. */
export function openConsole(folder: string | null): ConsoleFiles | null {
  if (folder === null || !existsSync(path.join(folder, 'build.json'))) return null
  const { files } = BuildRecord.parse(JSON.parse(readFileSync(path.join(folder, 'build.json'), 'utf8')))
  const kept = new Map<string, Buffer>()
  const read = (name: string): Buffer => {
    const bytes = kept.get(name) ?? readFileSync(path.join(folder, name))
    kept.set(name, bytes)
    return bytes
  }
  return {
    page: readFileSync(path.join(folder, 'index.html'), 'utf8'),
    file(name, encodings) {
      const type = types[path.extname(name)]
      if (type === undefined || !Object.hasOwn(files, name)) return null
      const [encoding, end] = forms.find((form) => encodings.includes(form[0]) && Object.hasOwn(files, name + form[1])) ?? [null, '']
      return { type, bytes: read(name + end), encoding }
    },
  }
}
