import { Writable } from 'node:stream'

/** A log destination that keeps the written lines, parsed. */
export class LineCollector extends Writable {
  readonly parsed: Record<string, unknown>[] = []
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString()
    for (const line of chunk.toString().split('\n')) if (line !== '') this.parsed.push(JSON.parse(line) as Record<string, unknown>)
    done()
  }
}
