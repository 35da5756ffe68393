import type { Environment } from './environment.ts'
import { settingNames, settings, type SettingName } from './settings.ts'

/** A name in the environment that we do not know, and the setting it is probably meant to be. */
export interface SuspiciousName {
  readonly name: string
  readonly meant: string
}

const shortest = 5
const mostEdits = 2

/** Names that systems and tools set, and that happen to lie close to ours. */
const innocent = new Set(['LINES', 'SHLVL', 'COLUMNS', 'LOGNAME', 'HOSTNAME', 'TESTS', 'DEBUG', 'USERNAME', 'MODULES'])

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

const ours: readonly string[] = settingNames.flatMap((name) => (settings[name].secret ? [name, `${name}_FILE`] : [name]))

/** Finds misspelt settings: what is not ours but lies at most two edits away, in any case. */
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
  const near = ours.filter((known) => known.length >= shortest).map((known) => ({ known, edits: editDistance(name, known) }))
  const best = near.reduce((left, right) => (right.edits < left.edits ? right : left))
  return best.edits <= mostEdits ? best.known : null
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other; given up above the limit. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > mostEdits) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const replaced = at(previous, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1)
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1] ? at(before, column - 2) + 1 : replaced
      current.push(Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced, swapped))
    }
    before = previous
    previous = current
  }
  return at(previous, right.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY

/** What was given although the embedded database ignores it: somebody probably forgot DB_HOST. */
export function ignoredSettings(env: Environment): readonly SettingName[] {
  if (env['DB_HOST']) return []
  return settingNames.filter((name) => name.startsWith('DB_') && name !== 'DB_POOL_SIZE' && (env[name] || env[`${name}_FILE`]))
}
