import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { addSigningKey, signingKeyOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'

/** `gatehouse release sign <folder>`. */
export const addReleaseSign = (release: Command): Command =>
  addSigningKey(
    explain(release.command('sign'), {
      example: 'gatehouse release sign dist/1.12.0 --key release.key',
      exits: { 1: 'the release is not as it was built, or the key cannot sign' },
    }),
  )
    .description('Signs the list of a release: ECDSA P-256 over SHA-256, as "cosign verify-blob" and "openssl dgst -verify" check it.')
    .argument('<folder>', 'the folder of the release')
    .option('--json', '{ folder, keyFingerprint }')
    .action(async (folder: string, { json }: { json?: true }, command: Command) => {
      const key = signingKeyOf(command)
      const { signRelease } = await import('../../distribution/release/folder.ts')
      const { keyFingerprint } = await import('../../distribution/sign.ts')
      await signRelease(folder, key)
      answer(json, { folder, keyFingerprint: keyFingerprint(key) }, `${folder} is signed by the key ${keyFingerprint(key)}.`)
    })
