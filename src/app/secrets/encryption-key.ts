import { createHmac, randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { makeFolder } from '../../lib/make-folder.ts'
import { codeOf } from '../database/connection-error.ts'
import type { SealedReason } from './vault.ts'

const keyBytes = 32

/** The key-encryption keys: the one to seal with from now on, and all that may have sealed stored values, by fingerprint. */
export interface KeyRing {
  readonly key: Buffer
  readonly byFingerprint: ReadonlyMap<string, Buffer>
}

/** The keys, or why there are none. */
export type KeyChoice = KeyRing | { readonly sealed: SealedReason }

/**
 * ENCRYPTION_KEY, and ENCRYPTION_KEY_PREVIOUS beside it; with the embedded database else `DATA_DIR/encryption.key`, which is made before the first
 * value is sealed. A lost key file is not replaced by a new key: that would hide that the old one is missing.
 */
export async function chooseKey(config: Config, options: { readonly mayCreate: boolean }): Promise<KeyChoice> {
  if (config.encryptionKey !== null) return toRing(config.encryptionKey.reveal(), config)
  if (!config.database.embedded) return { sealed: 'missing_key' }
  const path = join(config.dataDir, 'encryption.key')
  const stored = await readStored(path)
  if (stored !== null) return toRing(stored, config)
  if (!options.mayCreate) return { sealed: 'missing_key' }
  return toRing(await createStored(path), config)
}

/** Names a key without revealing any part of it. */
export const fingerprint = (key: Buffer): string =>
  createHmac('sha256', key).update('gatehouse key fingerprint 1').digest('hex').slice(0, 16)

function toRing(text: string, { encryptionKeyPrevious }: Pick<Config, 'encryptionKeyPrevious'>): KeyChoice {
  const key = parseKey(text)
  const previous = (encryptionKeyPrevious?.reveal().split(',') ?? []).map(parseKey)
  const all = [key, ...previous].filter((one) => one !== null)
  if (key === null || all.length <= previous.length) return { sealed: 'invalid_key' }
  return { key, byFingerprint: new Map(all.map((one) => [fingerprint(one), one])) }
}

function parseKey(text: string): Buffer | null {
  const trimmed = text.trim()
  const key = Buffer.from(trimmed, 'base64')
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed) && key.length === keyBytes ? key : null
}

async function readStored(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(`the encryption key in ${path} cannot be read`, { cause: error })
  }
}

/** Written in full under another name and then linked, so that one of several starting processes wins, and none reads half a key. */
async function createStored(path: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  makeFolder(join(path, '..'))
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
