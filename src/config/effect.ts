import type { Config, FeatureFlag, MailConfig } from './config.ts'
import { settings, type SettingName } from './settings.ts'

/** The level that decides. */
interface Level {
  readonly release: string
  atLeast(release: string): boolean
}

/** A setting that was given and does not take effect, and why. */
export interface SettingNote {
  readonly name: string
  readonly note: string
}

/** Returns true if a setting is read at a level: below the release that brought it, it has its default. */
const isRead = (name: SettingName, level: Pick<Level, 'atLeast'>): boolean =>
  settings[name].atEveryLevel || level.atLeast(settings[name].since)

/** Returns true if a flag leaves its feature on at a level. */
export const isOn = (flag: FeatureFlag, { flags }: Pick<Config, 'flags'>, level: Pick<Level, 'atLeast'>): boolean =>
  flags[flag] || !isRead(flag, level)

/** Returns the mail settings at a level: server, sender and templates. */
export function mailAt(
  { host, from, templatesPath, brand }: MailConfig,
  level: Pick<Level, 'atLeast'>,
): Pick<MailConfig, 'templatesPath' | 'brand'> & { readonly from: string } {
  const text = (name: SettingName, value: string) => (isRead(name, level) ? value : (settings[name].otherwise ?? ''))
  const name = text('EMAIL_COMPANY_NAME', brand.company_name)
  return {
    from: from ?? `${name.replaceAll(/[<>"]/g, '')} <no-reply@${host}>`,
    templatesPath: isRead('EMAIL_TEMPLATES_PATH', level) ? templatesPath : null,
    brand: {
      company_name: name,
      logo_url: text('EMAIL_LOGO_URL', brand.logo_url),
      support_email: text('EMAIL_SUPPORT_EMAIL', brand.support_email),
      docs_url: text('EMAIL_DOCS_URL', brand.docs_url),
    },
  }
}

/** Returns the places that prices come from at a level. */
export function pricePlaces({ prices }: Pick<Config, 'prices'>, level: Pick<Level, 'atLeast'>): Config['prices'] {
  const at = (name: SettingName, place: string | null) => (isRead(name, level) ? place : null)
  return {
    proxyUrl: at('MODEL_CONFIGS_PROXY_URL', prices.proxyUrl),
    logStorePath: at('MODEL_CONFIGS_PRICING_LOG_STORE_PATH', prices.logStorePath),
    localPath: at('MODEL_CONFIGS_PRICING_LOCAL_PATH', prices.localPath),
    abilitiesLogStorePath: at('MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH', prices.abilitiesLogStorePath),
    abilitiesLocalPath: at('MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH', prices.abilitiesLocalPath),
  }
}

/** Returns true if the log store may be used at a level: a later release brought one kind of it. */
export const logStoreActs = ({ logStore }: Pick<Config, 'logStore'>, level: Pick<Level, 'atLeast'>): boolean =>
  logStore?.kind !== 'gcs_assume' || isRead('GCP_WIF_AUDIENCE', level)

/** Returns notes on given settings that have no effect, in this build or at this level, and on those that act although their release is above it. */
export const settingNotes = ({ given, unread }: Pick<Config, 'given' | 'unread'>, level: Level): readonly SettingNote[] => [
  ...given.flatMap((name) => {
    const note = noteOf(name, level)
    return note === null ? [] : [{ name, note: `${name} ${note}` }]
  }),
  ...unread.map((name) => ({ name, note: `${name} has no effect: nothing reads it yet` })),
]

function noteOf(name: SettingName, level: Level): string | null {
  const { since, atEveryLevel } = settings[name]
  if (level.atLeast(since)) return null
  const later = `comes with release ${since}, and the level of this installation is ${level.release}`
  return atEveryLevel ? `${later}: it stays in effect, so that nothing becomes less safe` : `has no effect: it ${later}`
}
