import { createHash } from 'node:crypto'

/** A field of a form: a text, or a file. */
export interface SentField {
  readonly name: string
  readonly value: string | { readonly filename: string; readonly mediaType: string; readonly bytes: Buffer }
}

/** Writes a form. Its boundary is made of all its content, so that no part of it can hold the boundary. */
export function writeForm(fields: readonly SentField[]): { readonly contentType: string; readonly bytes: Buffer } {
  const hash = createHash('sha256')
  for (const { name, value } of fields) hash.update(name).update(typeof value === 'string' ? value : value.bytes)
  const boundary = `gatehouse-${hash.digest('hex').slice(0, 32)}`
  const parts = fields.flatMap(({ name, value }) => {
    const file = typeof value === 'string' ? '' : `; filename="${value.filename}"\r\ncontent-type: ${value.mediaType}`
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`
    return [Buffer.from(head), typeof value === 'string' ? Buffer.from(value) : value.bytes, Buffer.from('\r\n')]
  })
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]) }
}
