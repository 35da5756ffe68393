import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter } from '../distribution/meter.ts'
import { reportRefusal } from '../distribution/refusal.ts'
import { addTrust, trustOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'

/** `gatehouse release verify <folder>`. */
export const addReleaseVerify = (release: Command): Command =>
  addTrust(
    explain(release.command('verify'), {
      example: 'gatehouse release verify dist/1.12.0 --key gatehouse.pub',
      exits: { 1: 'the release is refused; the message begins with the reason, such as signature_wrong or file_changed' },
    }),
  )
    .description('Checks the signature of a release, and every byte of it.')
    .argument('<folder>', 'the folder of the release')
    .option('--json', '{ verified, files, keyFingerprint, artifacts }, or { verified, code, message }')
    .action(async (folder: string, { json }: { json?: true }, command: Command) => {
      const trust = trustOf(command)
      const { verifyRelease } = await import('../../distribution/release/folder.ts')
      const { keyFingerprint } = await import('../../distribution/sign.ts')
      await reportRefusal(json, async () => {
        const meter = createMeter('verified')
        const { key, artifacts, files } = await verifyRelease(folder, { trust, onBytes: meter.bytes })
        meter.end()
        const listed = artifacts.map(({ name, tag, descriptor: { digest } }) => ({ name, tag, digest }))
        const facts = { verified: true, files, keyFingerprint: keyFingerprint(key), artifacts: listed }
        const lines = listed.map(({ name, tag, digest }) => `  ${name}:${tag}@${digest}`)
        answer(json, facts, [`${folder} is as it was built: ${files} files, signed by ${facts.keyFingerprint}.`, ...lines].join('\n'))
      })
    })
