import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter } from '../distribution/meter.ts'
import { addRegistry, openNamedRegistry } from '../distribution/registry.ts'
import { addTrust, trustOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'
import { DistributionFault } from '../../distribution/fault.ts'

interface Options {
  readonly replace?: true
  readonly json?: true
}

/** `gatehouse bundle load <bundle>`. */
export const addBundleLoad = (bundle: Command): Command =>
  addTrust(
    addRegistry(
      explain(bundle.command('load'), {
        example: 'gatehouse bundle load gatehouse-1.12.0.bundle.tar --key gatehouse.pub --to registry.example:5000/mirror',
        exits: { 1: 'the bundle or the registry refuses; the message begins with the reason', 69: 'the registry cannot be reached' },
      }),
    ),
  )
    .description('Verifies a bundle and sends its images and chart to a registry, with their digests as they are. Run again, it goes on.')
    .argument('<bundle>', 'the archive, or its first part')
    .option('--replace', 'move tags that name something else in the registry')
    .option('--json', '[{ reference, digest, sent, known }]')
    .action(async (file: string, { replace, json }: Options, command: Command) => {
      const trust = trustOf(command)
      const { openArchive } = await import('../../distribution/bundle/archive.ts')
      const { verifyBundle } = await import('../../distribution/bundle/verify.ts')
      const { compareTags, pushArtifacts } = await import('../../distribution/registry/push.ts')
      const { target, registry } = await openNamedRegistry(command)
      const archive = await openArchive(file)
      try {
        const verified = createMeter(
          'verified',
          [...archive.files.values()].reduce((total, size) => total + size, 0),
        )
        const { artifacts } = await verifyBundle(archive, { trust, onBytes: verified.bytes })
        verified.end()
        const meter = createMeter('sent')
        const options = { target, registry, blobs: archive.blobs, onStep: meter.step, onBytes: meter.bytes }
        const taken = (await compareTags(artifacts, options)).filter(({ state }) => state === 'different' && replace !== true)
        if (taken.length > 0) throw new DistributionFault('version_exists', takenMessage(taken))
        const pushed = await pushArtifacts(artifacts, options)
        meter.end()
        answer(
          json,
          pushed,
          pushed.map(({ reference, digest, sent, known }) => `${reference}@${digest}: ${sent} blobs sent, ${known} were there`).join('\n'),
        )
      } finally {
        await Promise.all([archive.close(), registry.close()])
      }
    })

const takenMessage = (taken: readonly { readonly reference: string; readonly digest: string | null }[]) =>
  `${taken.map(({ reference, digest }) => `${reference} is ${digest ?? ''} in the registry`).join('; ')}. Use --replace to move the tag.`
