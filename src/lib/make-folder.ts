import fs from 'node:fs'
import path from 'node:path'

/**
 * Makes a folder and those above it that are missing. Throws the error of `mkdir` when one cannot be made.
 * Node's own `recursive` never ends where the system answers ENOENT below a folder that exists, as `/proc` does.
 */
export function makeFolder(folder: string, { mode = 0o777 }: { readonly mode?: number } = {}): void {
  const missing: string[] = []
  let at = path.resolve(folder)
  while (!isFolder(at)) {
    missing.unshift(at)
    if (fs.existsSync(at)) break
    at = path.dirname(at)
  }
  for (const each of missing) makeOne(each, mode)
}

function makeOne(folder: string, mode: number): void {
  try {
    fs.mkdirSync(folder, { mode })
  } catch (error) {
    // Another process made it meanwhile.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (at: string) => fs.statSync(at, { throwIfNoEntry: false })?.isDirectory() ?? false
