import path from 'node:path'
import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter } from '../distribution/meter.ts'
import { addRegistry, openNamedRegistry } from '../distribution/registry.ts'
import { addTrust, trustOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'
import { DistributionFault } from '../../distribution/fault.ts'

/** `gatehouse release publish <folder>`. */
export const addReleasePublish = (release: Command): Command =>
  addTrust(
    addRegistry(
      explain(release.command('publish'), {
        example: 'gatehouse release publish dist/1.12.0 --key gatehouse.pub --to registry.example/gatehouse',
        exits: {
          1: 'the release is refused, is published already, or the registry does not answer it',
          69: 'the registry cannot be reached',
        },
      }),
    ),
  )
    .description('Verifies a release and sends its image and chart to a registry. A version that is published is never published again.')
    .argument('<folder>', 'the folder of the release')
    .option('--without-nightly', 'publish a release without the record of a nightly run, such as one for a trial')
    .option('--json', '[{ reference, digest, sent, known }]')
    .action(async (folder: string, { json, withoutNightly }: { json?: true; withoutNightly?: true }, command: Command) => {
      const trust = trustOf(command)
      const { verifyRelease } = await import('../../distribution/release/folder.ts')
      const { verifyNightly } = await import('../../distribution/release/nightly.ts')
      const { releaseFiles } = await import('../../distribution/release/names.ts')
      const { folderBlobs } = await import('../../distribution/oci/layout.ts')
      const { compareTags, pushArtifacts } = await import('../../distribution/registry/push.ts')
      const { target, registry } = await openNamedRegistry(command)
      try {
        const { artifacts } = await verifyRelease(folder, { trust })
        if (!withoutNightly) await verifyNightly(folder)
        const meter = createMeter('sent')
        const options = {
          target,
          registry,
          blobs: folderBlobs(path.join(folder, releaseFiles.layout)),
          onStep: meter.step,
          onBytes: meter.bytes,
        }
        refusePublished(await compareTags(artifacts, options))
        const pushed = await pushArtifacts(artifacts, options)
        meter.end()
        answer(json, pushed, pushed.map(({ reference, digest }) => `${reference}@${digest}`).join('\n'))
      } finally {
        await registry.close()
      }
    })

interface RegistryState {
  readonly reference: string
  readonly digest: string | null
  readonly state: 'absent' | 'different' | 'same'
}

/** A part that is there as it is here was sent by a publication that was stopped; that one may be finished. */
function refusePublished(found: readonly RegistryState[]): void {
  const others = found.filter(({ state }) => state === 'different')
  const taken = found.every(({ state }) => state === 'same') ? found : others
  if (taken.length === 0) return
  throw new DistributionFault(
    'version_exists',
    taken.map(({ reference, digest }) => `${reference} is published as ${digest ?? ''}`).join('; '),
  )
}
