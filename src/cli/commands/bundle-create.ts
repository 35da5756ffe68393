import { Option, type Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter } from '../distribution/meter.ts'
import { readPartSize } from '../distribution/size.ts'
import { addSigningKey, signingKeyOf } from '../distribution/trust.ts'
import { explain } from '../command-help.ts'

interface Options {
  readonly output: string
  readonly split?: number
  readonly json?: true
}

/** `gatehouse bundle create <release>`. */
export const addBundleCreate = (bundle: Command): Command =>
  addSigningKey(
    explain(bundle.command('create'), {
      example: 'gatehouse bundle create dist/1.12.0 --key release.key --output gatehouse-1.12.0.bundle.tar --split 4G',
      exits: { 1: 'the release is not as it was built, the key cannot sign, or the file exists already' },
    }),
  )
    .description('Writes a bundle: one signed archive of a release that "gatehouse release build" made.')
    .argument('<release>', 'the folder of the release')
    .requiredOption('--output <file>', 'the archive to write')
    .addOption(new Option('--split <size>', 'write parts of at most this size, <file>.001 and on').argParser(readPartSize))
    .option('--json', '{ files: [path], release, artifacts: [{ name, tag, digest }] }')
    .action(async (release: string, { output, split, json }: Options, command: Command) => {
      const key = signingKeyOf(command)
      const { collectBundle } = await import('../distribution/collect.ts')
      const { createBundle } = await import('../../distribution/bundle/create.ts')
      const { refuseTarget } = await import('../../distribution/bundle/parts.ts')
      const { writeArchive } = await import('../../distribution/bundle/write.ts')
      // Refused at once, before anything is read.
      refuseTarget(output)
      const meter = createMeter('read')
      const contents = await collectBundle(release, { onBytes: meter.bytes })
      const chunks = await createBundle({ ...contents, key, onBytes: meter.bytes })
      const files = await writeArchive(chunks, { file: output, split: split ?? null })
      meter.end()
      const { release: version, artifacts } = contents.info
      answer(
        json,
        { files, release: version, artifacts },
        [...files, ...artifacts.map(({ name, tag, digest }) => `  ${name}:${tag}@${digest}`)].join('\n'),
      )
    })
