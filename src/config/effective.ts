import { gather, type Environment } from './environment.ts'
import { settingNames, settings, type SettingName } from './settings.ts'

/** Each setting as it takes effect, for the log of the start: secrets masked, PEM texts named only. */
export function effectiveSettings(env: Environment): Readonly<Record<SettingName, string>> {
  const { values } = gather(env)
  const rows = settingNames.map((name) => [name, show(name, values[name])] as const)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built from exactly these names
  return Object.fromEntries(rows) as Record<SettingName, string>
}

function show(name: SettingName, given: string | undefined): string {
  if (given === undefined) return settings[name].otherwise ?? '(not set)'
  if (settings[name].secret) return '[secret]'
  return given.includes('-----BEGIN') ? '[PEM]' : given
}
