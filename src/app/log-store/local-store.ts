import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { expireFiles } from './expire-files.ts'
import { type LogStore, LogStoreError } from './log-store.ts'

/** A store in a folder, such as a mounted share. An object is there whole or not at all. */
export function createLocalStore(folder: string): LogStore {
  const place = (key: string) => path.join(folder, ...key.split('/'))
  return {
    name: `local ${folder}`,
    put: (key, object) => told(() => writeWhole(place(key), object)),
    get: (key) => told(() => readFile(place(key))).catch(absent),
    remove: (key) => told(() => rm(place(key), { force: true })),
    expire: (before) => told(() => expireFiles(folder, before)),
  }
}

/** Writes beside the place first: a process that dies halfway leaves no half object. */
async function writeWhole(file: string, object: Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const beside = `${file}.${randomUUID()}.part`
  try {
    const handle = await open(beside, 'wx', 0o640)
    try {
      await handle.writeFile(object)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(beside, file)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

async function told<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw new LogStoreError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Returns null for a file that is not there. */
function absent(error: unknown): null {
  if (error instanceof LogStoreError && error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ENOENT') return null
  throw error
}
