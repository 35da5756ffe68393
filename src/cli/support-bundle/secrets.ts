import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { isSecretName } from '../../lib/text/secret-names.ts'
import { settingNames, settings, type Config, type Environment } from '../../config/index.ts'
import { Secret } from '../../lib/secret.ts'
import { shortestSecret, type KnownSecret } from '../../lib/text/secret-forms.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'

const largestFile = 64 * 1024

/** Every secret in the environment, in the files that it names, in the configuration that was made of them, and in the data folder. */
export const localSecrets = (env: Environment, config: Config | null): readonly KnownSecret[] => [
  ...(config === null ? [] : [...inConfig(config, 'setting'), ...inDataFolder(config.dataDir)]),
  ...Object.entries(env).flatMap(([name, value]) => fromVariable(name, value ?? '')),
]

/** Each value once, under its last label, and only those that can be distinguished from other text. */
export const distinct = (secrets: readonly KnownSecret[]): readonly KnownSecret[] => [
  ...new Map(secrets.filter(({ value }) => value.length >= shortestSecret).map((secret) => [secret.value, secret])).values(),
]

const ours: ReadonlySet<string> = new Set(settingNames.filter((name) => settings[name].secret))
const isHarmless: ReadonlySet<string> = new Set(settingNames.filter((name) => !settings[name].secret))
/** The variables that systems set under names that sound secret. */
const innocent = /^(?:SSH_AUTH_SOCK|GPG_AGENT_INFO|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|XDG_\w+|DBUS_\w+)$/

/** The value of a variable that is, or sounds, secret; the file that it names; the login in an address. */
function fromVariable(name: string, value: string): readonly KnownSecret[] {
  if (value === '' || innocent.test(name)) return []
  const logins = loginsIn(value).map((login) => ({ value: login, label: name }))
  if (name.endsWith('_FILE') && soundsSecret(name.slice(0, -'_FILE'.length))) return [...logins, ...inFile(value, name)]
  return soundsSecret(name) ? [...logins, ...partsOf(value, name), ...inFile(value, name)] : logins
}

const soundsSecret = (name: string) => ours.has(name) || (!isHarmless.has(name) && (isSecretName(name) || /PASS(?:WD)?$/i.test(name)))

/** A secret, and each of a comma list of them. */
const partsOf = (value: string, label: string): readonly KnownSecret[] =>
  [value, ...(value.includes(',') ? value.split(',').map((part) => part.trim()) : [])].map((part) => ({ value: part, label }))

/** The passwords of addresses, encoded and not. A password may hold an unencoded @. */
function loginsIn(text: string): readonly string[] {
  return [...text.matchAll(/:\/\/[^\s/:@]{0,200}:([^\s]{1,2000})@/g)].flatMap(([, password = '']) => [password, decodeSegment(password)])
}

/** Returns the secret in a file; none when the value names no file. */
function inFile(file: string, label: string): readonly KnownSecret[] {
  try {
    if (!path.isAbsolute(file) || statSync(file).size > largestFile) return []
    const text = readFileSync(file, 'utf8')
    return [text, ...textsIn(parsed(text))].map((value) => ({ value: value.trim(), label }))
  } catch {
    return []
  }
}

/** The texts of a document under names that sound secret, and all texts below one. */
export function textsIn(document: unknown, secret = false): readonly string[] {
  if (typeof document === 'string') return secret ? [document] : []
  if (typeof document !== 'object' || document === null) return []
  return Object.entries(document).flatMap(([name, child]: [string, unknown]) => textsIn(child, secret || isSecretName(name)))
}

/** The JSON in a text; null: it is none. */
export function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function inConfig(value: unknown, label: string): readonly KnownSecret[] {
  if (value instanceof Secret) return [{ value: value.reveal(), label }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]: [string, unknown]) => inConfig(child, name))
}

/** The generated encryption key, and the passwords of the embedded database. */
function inDataFolder(folder: string): readonly KnownSecret[] {
  const passwords = inFile(path.join(folder, 'postgres', 'logins.json'), 'embedded database')
  return [...inFile(path.join(folder, 'encryption.key'), 'encryption.key'), ...passwords]
}
