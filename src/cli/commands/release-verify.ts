import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter } from '../distribution/meter.ts'
import { reportRefusal } from '../distribution/refusal.ts'
import { addTrust, trustOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'
import type { NightlyRecord } from '../../distribution/release/nightly.ts'

/** `gatehouse release verify <folder>`. */
export const addReleaseVerify = (release: Command): Command =>
  addTrust(
    explain(release.command('verify'), {
      example: 'gatehouse release verify dist/1.12.0 --key gatehouse.pub',
      exits: { 1: 'the release is refused; the message begins with the reason, such as signature_wrong or file_changed' },
    }),
  )
    .description('Checks the signature of a release, every byte of it, and that a nightly run proved its commit.')
    .argument('<folder>', 'the folder of the release')
    .option('--without-nightly', 'accept a release without the record of a nightly run, such as one for a trial')
    .option('--json', '{ verified, files, keyFingerprint, artifacts, nightly }, or { verified, code, message }')
    .action(async (folder: string, { json, withoutNightly }: { json?: true; withoutNightly?: true }, command: Command) => {
      const trust = trustOf(command)
      const { verifyRelease } = await import('../../distribution/release/folder.ts')
      const { verifyNightly } = await import('../../distribution/release/nightly.ts')
      const { keyFingerprint } = await import('../../distribution/sign.ts')
      await reportRefusal(json, async () => {
        const meter = createMeter('verified')
        const { key, artifacts, files } = await verifyRelease(folder, { trust, onBytes: meter.bytes })
        meter.end()
        const nightly = withoutNightly ? null : await verifyNightly(folder)
        const listed = artifacts.map(({ name, tag, descriptor: { digest } }) => ({ name, tag, digest }))
        const facts = { verified: true, files, keyFingerprint: keyFingerprint(key), artifacts: listed, nightly }
        const lines = listed.map(({ name, tag, digest }) => `  ${name}:${tag}@${digest}`)
        const built = `${folder} is as it was built: ${files} files, signed by ${facts.keyFingerprint}.`
        answer(json, facts, [built, ...lines, ...nightlyLines(nightly)].join('\n'))
      })
    })

const nightlyLines = (record: NightlyRecord | null): readonly string[] =>
  record === null
    ? ['No nightly run was asked for.']
    : [
        `A nightly run that ended at ${record.endedAt} proved ${record.commit}.`,
        ...record.parts.flatMap(({ name, skipped }) => skipped.map((line) => `  ${name}: ${line}`)),
      ]
