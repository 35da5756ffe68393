import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { DistributionFault } from '../fault.ts'
import { releaseFiles } from './names.ts'

/** The parts of a nightly run, each with the script of package.json that it runs, the arguments of that, and its settings. */
export const nightlyParts = {
  tests: { script: 'test', args: [], env: { NIGHTLY: '1' } },
  upgrades: { script: 'rehearse', args: ['--pairs', 'all'], env: {} },
  image: { script: 'image:check', args: [], env: {} },
  clients: { script: 'clients', args: [], env: {} },
  'log stores': { script: 'log-stores', args: [], env: {} },
  'secret managers': { script: 'secret-managers', args: [], env: {} },
} as const satisfies Readonly<Record<string, NightlyPart>>

interface NightlyPart {
  readonly script: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const PartResult = z.strictObject({
  name: z.string(),
  passed: z.boolean(),
  seconds: z.number(),
  /** Lines of the checks that the machine could not run. */
  skipped: z.array(z.string()),
})
export type NightlyPartResult = z.output<typeof PartResult>

/** The record that a nightly run writes of the commit that it proved. */
export const NightlyRecord = z.strictObject({
  commit: z.string().regex(/^[0-9a-f]{40,64}$/, 'is no commit'),
  endedAt: z.iso.datetime(),
  parts: z.array(PartResult),
})
export type NightlyRecord = z.output<typeof NightlyRecord>

/** Parses the record of a nightly run. Throws DistributionFault `nightly_missing` if the text is none. */
export function parseNightly(text: string, file: string): NightlyRecord {
  try {
    return NightlyRecord.parse(JSON.parse(text))
  } catch (error) {
    throw new DistributionFault('nightly_missing', `${file} is no record of a nightly run`, { cause: error })
  }
}

/** Throws DistributionFault unless every part of the record passed at this commit. Null: the sources name no commit. */
export function demandNightly(record: NightlyRecord, commit: string | null): void {
  if (record.commit !== commit)
    throw new DistributionFault(
      'nightly_differs',
      `the nightly run proved ${record.commit}, and the release is built from ${commit ?? 'no commit'}`,
    )
  const bad = Object.keys(nightlyParts).filter((name) => record.parts.find((part) => part.name === name)?.passed !== true)
  if (bad.length > 0)
    throw new DistributionFault('nightly_failed', `these parts of the nightly run failed or did not run: ${bad.join(', ')}`)
}

const Provenance = z.object({
  predicate: z.object({
    buildDefinition: z.object({
      externalParameters: z.object({ dirty: z.boolean() }),
      resolvedDependencies: z.array(z.object({ name: z.string(), digest: z.record(z.string(), z.string()) })),
    }),
  }),
})

/** Checks that the folder of a release holds the record of a nightly run that passed at its commit, and returns it. Throws DistributionFault. */
export async function verifyNightly(folder: string): Promise<NightlyRecord> {
  const text = await readFile(path.join(folder, releaseFiles.nightly), 'utf8').catch(() => null)
  if (text === null)
    throw new DistributionFault('nightly_missing', `${releaseFiles.nightly} is missing: the release was built without --nightly`)
  const { buildDefinition } = Provenance.parse(JSON.parse(await readFile(path.join(folder, releaseFiles.provenance), 'utf8'))).predicate
  const source = buildDefinition.resolvedDependencies.find(({ name }) => name === 'source')?.digest['gitCommit'] ?? null
  const record = parseNightly(text, releaseFiles.nightly)
  demandNightly(record, buildDefinition.externalParameters.dirty ? null : source)
  return record
}
