import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter, readable } from '../distribution/meter.ts'
import { addTrust, trustOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'

/** `gatehouse bundle verify <bundle>`. */
export const addBundleVerify = (bundle: Command): Command =>
  addTrust(
    explain(bundle.command('verify'), {
      example: 'gatehouse bundle verify gatehouse-1.12.0.bundle.tar --key gatehouse.pub',
      exits: { 1: 'the bundle is refused; the message begins with the reason, such as signature_wrong or blob_changed' },
    }),
  )
    .description('Checks the signature of a bundle, and every byte of it.')
    .argument('<bundle>', 'the archive, or its first part')
    .option('--json', '{ verified, release, files, bytes, keyFingerprint, artifacts, prices, difference }, or { verified, code, message }')
    .action(async (file: string, { json }: { json?: true }, command: Command) => {
      const trust = trustOf(command)
      const { openArchive } = await import('../../distribution/bundle/archive.ts')
      const { verifyBundle } = await import('../../distribution/bundle/verify.ts')
      const { keyFingerprint } = await import('../../distribution/sign.ts')
      const { reportRefusal } = await import('../distribution/refusal.ts')
      await reportRefusal(json, async () => {
        const archive = await openArchive(file)
        try {
          const bytes = [...archive.files.values()].reduce((total, size) => total + size, 0)
          const meter = createMeter('verified', bytes)
          const { info, key, difference } = await verifyBundle(archive, { trust, onBytes: meter.bytes })
          meter.end()
          const { release, artifacts, prices = null } = info
          const facts = {
            verified: true,
            release,
            files: archive.files.size,
            bytes,
            keyFingerprint: keyFingerprint(key),
            artifacts,
            prices,
            difference,
          }
          const lines = [
            `${file} is the bundle of ${release}, unchanged: ${facts.files} files, ${readable(bytes)}, signed by ${facts.keyFingerprint}.`,
            ...artifacts.map(({ name, tag, digest }) => `  ${name}:${tag}@${digest}`),
            ...(prices === null ? [] : [`Its price catalogue is of ${prices.as_of}, digest ${prices.digest}.`]),
            ...(difference === null ? [] : [`It leaves out ${difference.omitted.length} blobs that the bundle of ${difference.from} has.`]),
          ]
          answer(json, facts, lines.join('\n'))
        } finally {
          await archive.close()
        }
      })
    })
