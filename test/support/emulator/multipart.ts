/** One part of a multipart body. */
export interface Part {
  readonly name: string | null
  readonly filename: string | null
  readonly content: Buffer
}

/** Splits a multipart body; wrong ones give no parts. */
export function readMultipart(contentType: string, body: Buffer): readonly Part[] {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1]
  if (boundary === undefined) return []
  const delimiter = Buffer.from(`--${boundary}`)
  const parts: Part[] = []
  let start = body.indexOf(delimiter)
  while (start !== -1) {
    const end = body.indexOf(delimiter, start + delimiter.length)
    if (end === -1) break
    parts.push(readPart(body.subarray(start + delimiter.length + 2, end - 2)))
    start = end
  }
  return parts
}

function readPart(bytes: Buffer): Part {
  const split = bytes.indexOf('\r\n\r\n')
  const head = bytes.subarray(0, split).toString()
  return {
    name: /\bname="([^"]*)"/.exec(head)?.[1] ?? null,
    filename: /\bfilename="([^"]*)"/.exec(head)?.[1] ?? null,
    content: bytes.subarray(split + 4),
  }
}
