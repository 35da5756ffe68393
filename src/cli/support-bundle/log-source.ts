import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import path from 'node:path'
import { dataDirOf } from './installation-sources.ts'
import type { CollectedFile, Scene, Source } from './source.ts'

/** The ends of the logs: those that were named, and that of the embedded PostgreSQL. */
export const logSource: Source = {
  name: 'logs',
  async collect(scene) {
    const embedded = embeddedLog(scene)
    const named = scene.logFiles.map((file, at) => ({
      file,
      path: `logs/${at + 1}-${file === '-' ? 'standard-input' : path.basename(file)}`,
    }))
    return [...named, ...(embedded === null ? [] : [{ file: embedded, path: 'logs/postgres.log' }])].map(
      ({ file, path: at }): CollectedFile => ({ path: at, text: endOf(file, scene.logBytes) }),
    )
  },
}

function embeddedLog(scene: Scene): string | null {
  const dataDir = dataDirOf(scene)
  const file = dataDir === null ? null : path.join(dataDir, 'postgres.log')
  return file !== null && existsSync(file) ? file : null
}

/** The last whole lines: half a secret at the cut would not be recognised. */
function endOf(file: string, most: number): string {
  const { text, cut } = file === '-' ? endOfText(readFileSync(0, 'utf8'), most) : endOfFile(file, most)
  if (!cut) return text
  const firstBreak = text.indexOf('\n')
  return firstBreak === -1 ? '(one line, longer than the limit)\n' : text.slice(firstBreak + 1)
}

const endOfText = (text: string, most: number) => ({ text: text.slice(-most), cut: text.length > most })

function endOfFile(file: string, most: number): { readonly text: string; readonly cut: boolean } {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, most))
    const length = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return { text: buffer.toString('utf8', 0, length), cut: size > most }
  } finally {
    closeSync(descriptor)
  }
}
