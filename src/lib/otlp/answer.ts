interface TraceAnswer {
  readonly partialSuccess?: { readonly rejectedSpans: string; readonly errorMessage: string } | undefined
}

/** Writes an `ExportTraceServiceResponse`. Without a partial success it has no bytes. */
export function writeTraceAnswer({ partialSuccess }: TraceAnswer): Uint8Array {
  if (partialSuccess === undefined) return new Uint8Array()
  const message = Buffer.from(partialSuccess.errorMessage)
  const inner = Buffer.concat([
    Buffer.of(0x08),
    varint(Number(partialSuccess.rejectedSpans)),
    Buffer.of(0x12),
    varint(message.length),
    message,
  ])
  return Buffer.concat([Buffer.of(0x0a), varint(inner.length), inner])
}

function varint(number: number): Buffer {
  const bytes: number[] = []
  let rest = number
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 0x80)
  return Buffer.of(...bytes, rest)
}
