import type { Registry } from 'prom-client'

/** Families of which only the primary process has figures, because it alone does the work. */
const primaryOnly = ['gateway_job_runs_total', 'gateway_backfills_pending']

/** Renders the families that only the primary measures. */
export const renderPrimaryOnly = async (registry: Registry): Promise<readonly string[]> =>
  Promise.all(primaryOnly.map((name) => registry.getSingleMetricAsString(name)))

/** Puts the given families into the text of all workers, in place of theirs of the same name. */
export function replaceFamilies(text: string, families: readonly string[]): string {
  const names = new Set(families.map(nameOf))
  const kept = text.split(/(?=^# HELP )/m).filter((block) => !names.has(nameOf(block)))
  return [...kept.map((block) => block.trimEnd()), ...families.map((family) => family.trimEnd()), ''].join('\n')
}

const nameOf = (block: string) => /^# HELP (\S+)/.exec(block)?.[1] ?? ''
