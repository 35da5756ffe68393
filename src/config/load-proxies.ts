import { customCleanEnv, type CleanedEnv } from 'envalid'
import type { Config } from './config.ts'
import { gather, type Environment } from './environment.ts'
import { ConfigError } from './problems.ts'
import { proxySettings } from './proxy-settings.ts'

/** Returns the forward proxies; null: there is none. */
export function proxiesOf(values: CleanedEnv<typeof proxySettings>): Config['proxies'] {
  const proxies = {
    https: values.HTTPS_PROXY ?? null,
    http: values.HTTP_PROXY ?? null,
    direct: values.NO_PROXY,
    names: values.PROXY_NAMES,
  }
  return proxies.https === null && proxies.http === null ? null : proxies
}

/** Reads the forward proxies alone, for commands that need no other setting. Throws a ConfigError that names the fault. */
export function loadProxies(env: Environment): Config['proxies'] {
  const { values } = gather(env)
  return proxiesOf(
    customCleanEnv(values, proxySettings, (cleaned) => cleaned, {
      reporter: ({ errors }) => {
        const problems = Object.entries(errors).flatMap(([name, error]) => (error ? [{ name, fault: error.message, example: '' }] : []))
        if (problems.length > 0) throw new ConfigError(problems)
      },
    }),
  )
}
