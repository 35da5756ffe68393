import { Option, type Command } from 'commander'
import { answer } from '../answer.ts'
import { createMeter, readable } from '../distribution/meter.ts'
import { readPartSize } from '../distribution/size.ts'
import { explain } from '../command-help.ts'

interface Options {
  readonly from: string
  readonly output: string
  readonly split?: number
  readonly json?: true
}

/** `gatehouse bundle diff <bundle> --from <earlier>`. */
export const addBundleDiff = (bundle: Command): Command =>
  explain(bundle.command('diff'), {
    example:
      'gatehouse bundle diff gatehouse-1.12.0.bundle.tar --from gatehouse-1.11.2.bundle.tar --output gatehouse-1.11.2-to-1.12.0.bundle.tar',
    exits: { 1: 'one of the two is no bundle, or the file exists already' },
  })
    .description(
      'Writes a bundle without the layers that an earlier one brought. Signature and list stay, so it is verified and loaded the same.',
    )
    .argument('<bundle>', 'the archive, or its first part')
    .requiredOption('--from <bundle>', 'the bundle that the registry has been given')
    .requiredOption('--output <file>', 'the archive to write')
    .addOption(new Option('--split <size>', 'write parts of at most this size, <file>.001 and on').argParser(readPartSize))
    .option('--json', '{ files: [path], from, omitted: [path] }')
    .action(async (file: string, { from, output, split, json }: Options) => {
      const { openArchive } = await import('../../distribution/bundle/archive.ts')
      const { createDifference } = await import('../../distribution/bundle/difference.ts')
      const { writeArchive } = await import('../../distribution/bundle/write.ts')
      const archive = await openArchive(file)
      const known = await openArchive(from)
      try {
        const { chunks, difference } = await createDifference(archive, known)
        const meter = createMeter('written')
        const files = await writeArchive(counted(chunks, meter.bytes), { file: output, split: split ?? null })
        meter.end()
        const saved = difference.omitted.reduce((total, path) => total + (archive.files.get(path) ?? 0), 0)
        const text = `${files.join('\n')}\n  without ${difference.omitted.length} blobs of ${readable(saved)} that the bundle of ${difference.from} has`
        answer(json, { files, ...difference }, text)
      } finally {
        await Promise.all([archive.close(), known.close()])
      }
    })

async function* counted(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, onBytes: (count: number) => void) {
  for await (const chunk of chunks) {
    onBytes(chunk.length)
    yield chunk
  }
}
