import { onOff, text } from './kinds.ts'
import { publicUrl } from './network.ts'
import { optional, setting } from './setting.ts'

/** The places that prices and abilities of models come from, beside the catalogue that Gatehouse brings. */
export const priceSettings = {
  MODEL_CONFIGS_PROXY_FETCH_ENABLED: setting(onOff, 'OFF', {
    desc: 'With `ON`, Gatehouse asks the service of `MODEL_CONFIGS_PROXY_URL` for prices and abilities of models before all other lists.',
    example: 'ON',
    since: '1.7.0',
  }),
  MODEL_CONFIGS_PROXY_URL: optional(publicUrl, {
    desc: 'The service that answers `/pricing/{provider}` with a price list, and `/general/{provider}` with the abilities of models. A host in a private network must be in `TRUSTED_CUSTOM_HOSTS`.',
    example: 'https://prices.example.com',
    since: '1.7.0',
  }),
  MODEL_CONFIGS_PRICING_LOG_STORE_PATH: optional(text(4096), {
    desc: 'The path in the log store, or without one a folder, with a price list `{provider}.json` for each provider. It goes after the service.',
    example: '/mnt/log-store/pricing',
    since: '1.7.0',
  }),
  MODEL_CONFIGS_PRICING_LOCAL_PATH: optional(text(4096), {
    desc: 'A folder of this machine with price lists. It goes after the log store, and before the catalogue that Gatehouse brings.',
    example: '/etc/gatehouse/pricing',
    since: '1.7.0',
  }),
  MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH: optional(text(4096), {
    desc: 'The path in the log store, or without one a folder, with the abilities of models, `{provider}.json` for each provider. It goes after the service.',
    example: '/mnt/log-store/general',
    since: '1.7.0',
  }),
  MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH: optional(text(4096), {
    desc: 'A folder of this machine with the abilities of models. It goes after the log store, and before the catalogue that Gatehouse brings.',
    example: '/etc/gatehouse/general',
    since: '1.7.0',
  }),
}
