import { levelFault } from '../guardrails/index.ts'
import { inlineChecks } from '../../gateway/checks/secrets.ts'
import { configsWithin, type GatewayConfig } from '../../gateway/config/config.schema.ts'
import { pathText } from '../../lib/json/json-path.ts'
import type { Level } from '../../release/level.ts'
import { guardrailFields } from './secrets.ts'

/** Refuses a config with a check that comes with a later release than the installation is at; AB01 names it. */
export function refuseLaterChecks(config: GatewayConfig, level: Pick<Level, 'release' | 'atLeast'>, path = 'config'): void {
  const checks = guardrailFields.flatMap((name) =>
    (config[name] ?? []).flatMap((guardrail, at) => (typeof guardrail === 'string' ? [] : inlineChecks(guardrail, [name, at]))),
  )
  for (const { id, path: at } of checks) {
    const fault = levelFault(id, `${path}.${pathText(at)}`, level)
    if (fault !== null) throw fault
  }
  for (const [at, inner] of configsWithin(config)) refuseLaterChecks(inner, level, `${path}.${at}`)
}
