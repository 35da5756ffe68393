import { levelFault } from '../guardrails/index.ts'
import { inlineChecks } from '../../gateway/ports/checks.ts'
import { configsWithin, type GatewayConfig } from '../../gateway/ports/configs.ts'
import { ApiError } from '../../lib/errors.ts'
import { laterBeside } from '../../gateway/ports/providers.ts'
import { pathText } from '../../lib/json/json-path.ts'
import type { Level } from '../../release/level.ts'
import { guardrailFields } from './secrets.ts'

/** Refuses a config with a check that comes with a later release than the installation is at; AB01 names it. */
export function refuseLaterChecks(config: GatewayConfig, level: Pick<Level, 'release' | 'atLeast'>, path = 'config'): void {
  const checks = guardrailFields.flatMap((name) =>
    (config[name] ?? []).flatMap((guardrail, at) => (typeof guardrail === 'string' ? [] : inlineChecks(guardrail, [name, at]))),
  )
  for (const { entry, id, parameters } of checks) {
    const paths = { id: `${path}.${pathText(id)}`, parameters: `${path}.${pathText(parameters)}` }
    const fault = levelFault(entry, paths, level)
    if (fault !== null) throw fault
  }
  const later = laterBeside(config, (release) => level.atLeast(release))
  if (later !== null)
    throw new ApiError(
      'AB01',
      `${later.name} comes with release ${later.release} beside ${later.beside}. The level of this installation is ${level.release}.`,
      {
        param: `${path}.${later.name}`,
      },
    )
  for (const [at, inner] of configsWithin(config)) refuseLaterChecks(inner, level, `${path}.${at}`)
}
