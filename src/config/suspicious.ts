import { nearest } from '../lib/text/nearest.ts'
import type { Environment } from './environment.ts'
import { otherNames } from './proxy-settings.ts'
import { settingNames, settings, type SettingName } from './settings.ts'

/** An unknown name in the environment, and the setting it is probably meant to be. */
export interface SuspiciousName {
  readonly name: string
  readonly meant: string
}

const shortest = 5

/** Names that systems and tools set, and that happen to lie close to ours. */
const innocent = new Set([
  'LINES',
  'SHLVL',
  'COLUMNS',
  'LOGNAME',
  'HOSTNAME',
  'TESTS',
  'DEBUG',
  'USERNAME',
  'MODULES',
  'FTP_PROXY',
  'ALL_PROXY',
  'ftp_proxy',
  'all_proxy',
])

/** Names of other products for the same thing, too far away for the edit distance. */
const synonyms: Readonly<Record<string, string>> = {
  DB_PASSWORD: 'DB_PASS',
  DB_USERNAME: 'DB_USER',
  DB_DATABASE: 'DB_NAME',
  DB_SSLMODE: 'DB_SSL',
  DB_SSL_MODE: 'DB_SSL',
  DATABASE_URL: 'DB_HOST',
  MAX_JSON_PAYLOAD_SIZE: 'MAX_JSON_PAYLOAD_SIZE_IN_MB',
  MAX_UPLOAD_SIZE: 'MAX_UPLOAD_SIZE_IN_MB',
}

const ours: readonly string[] = settingNames.flatMap((name) => [
  name,
  ...(settings[name].secret ? [`${name}_FILE`] : []),
  ...(otherNames[name] === undefined ? [] : [otherNames[name]]),
])

/** Finds misspelt settings: unknown names at most two edits away from one, in any case. */
export function suspiciousNames(env: Environment): readonly SuspiciousName[] {
  return Object.keys(env).flatMap((name) => {
    const meant = name.length < shortest || ours.includes(name) || innocent.has(name) ? null : findMeant(name.toUpperCase())
    return meant ? [{ name, meant }] : []
  })
}

function findMeant(name: string): string | null {
  const plain = name.replace(/_FILE$/, '')
  // DB_HOST_FILE: only secrets are read from files.
  if (plain !== name && ours.includes(plain)) return plain
  const synonym = synonyms[name]
  if (synonym) return synonym
  return nearest(
    name,
    ours.filter((known) => known.length >= shortest),
  )
}

/** Returns the given settings that the embedded database ignores: the operator probably forgot DB_HOST. */
export function ignoredSettings(env: Environment): readonly SettingName[] {
  if (env['DB_HOST']) return []
  return settingNames.filter((name) => name.startsWith('DB_') && name !== 'DB_POOL_SIZE' && (env[name] || env[`${name}_FILE`]))
}
