import { createHmac, randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { codeOf } from '../database/connection-error.ts'
import type { SealedReason } from './vault.ts'

const keyBytes = 32

/** The key-encryption key, or why there is none. */
export type KeyChoice = { readonly key: Buffer } | { readonly sealed: SealedReason }

/**
 * ENCRYPTION_KEY; with the embedded database else `DATA_DIR/encryption.key`, which is made when nothing has been sealed yet.
 * A lost key file is not replaced by a new key: that would hide that the old one is missing.
 */
export async function chooseKey(config: Config, options: { readonly mayCreate: boolean }): Promise<KeyChoice> {
  if (config.encryptionKey !== null) return parseKey(config.encryptionKey.reveal())
  if (!config.database.embedded) return { sealed: 'missing_key' }
  const path = join(config.dataDir, 'encryption.key')
  const stored = await readStored(path)
  if (stored !== null) return parseKey(stored)
  if (!options.mayCreate) return { sealed: 'missing_key' }
  return parseKey(await createStored(path))
}

/** Names a key without telling anything about it. */
export const fingerprint = (key: Buffer): string =>
  createHmac('sha256', key).update('gatehouse key fingerprint 1').digest('hex').slice(0, 16)

function parseKey(text: string): KeyChoice {
  const trimmed = text.trim()
  const key = Buffer.from(trimmed, 'base64')
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)
  return isBase64 && key.length === keyBytes ? { key } : { sealed: 'invalid_key' }
}

async function readStored(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(`the encryption key in ${path} cannot be read`, { cause: error })
  }
}

/** Written in full under another name and then linked, so that of processes that start at once one wins, and nobody reads half a key. */
async function createStored(path: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await mkdir(join(path, '..'), { recursive: true })
  const file = await open(draft, 'wx', 0o600)
  await file.writeFile(`${randomBytes(keyBytes).toString('base64')}\n`)
  await file.sync()
  await file.close()
  try {
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return readFile(path, 'utf8')
}
