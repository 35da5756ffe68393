import { readFileSync } from 'node:fs'
import type { Problem } from './problems.ts'
import { otherNames } from './proxy-settings.ts'
import { settingNames, settings, type SettingName } from './settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The value of each setting that was given, as text, with secrets read from their files. */
export interface GivenSettings {
  readonly values: Readonly<Partial<Record<SettingName, string>>>
  readonly problems: readonly Problem[]
}

const largestSecretBytes = 64 * 1024

/** Gathers the given settings. An empty value counts as absent, because compose files and charts pass unset variables so. */
export function gather(env: Environment): GivenSettings {
  const problems: Problem[] = []
  const values: Partial<Record<SettingName, string>> = {}
  for (const name of settingNames) {
    const given = settings[name].secret ? readSecret(name, env, problems) : valueOf(name, env)?.trim()
    if (given) values[name] = given
  }
  return { values, problems }
}

/** Some settings are known under a second name. */
const valueOf = (name: SettingName, env: Environment): string | undefined => env[name] || env[otherNames[name] ?? name]

/** Returns the variable that a setting is read from. */
export function sourceOf(name: SettingName, env: Environment): string {
  if (env[name]) return name
  const other = otherNames[name]
  return other !== undefined && env[other] && !env[`${name}_FILE`] ? other : `${name}_FILE`
}

function readSecret(name: SettingName, env: Environment, problems: Problem[]): string | undefined {
  const fileSetting = `${name}_FILE`
  const file = env[fileSetting]
  if (!file) return valueOf(name, env)
  const refuse = (fault: string) => void problems.push({ name: fileSetting, fault, example: `/run/secrets/${name.toLowerCase()}` })
  if (env[name]) return refuse(`is given although ${name} is: give one of them`)
  try {
    const content = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    if (content === '') return refuse('names an empty file')
    return content.length > largestSecretBytes ? refuse('names a file that is too large for a secret') : content
  } catch (error) {
    // Without the path: the operator may have put the secret itself here.
    return refuse(`names a file that cannot be read (${errorCode(error)})`)
  }
}

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown error')
