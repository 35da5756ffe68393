import fs from 'node:fs'
import path from 'node:path'
import type { StoredFrame } from '../../gateway/ports/journal.ts'

const maxFileBytes = 64 * 1024 * 1024

/** Keeps records that the database will never take in `rejected.bad`, one JSON line each, up to 64 MiB; beyond it they are only counted. */
export function keepReject(root: string, frame: StoredFrame, reason: string): void {
  const file = path.join(root, 'rejected.bad')
  const line = JSON.stringify({
    at: new Date().toISOString(),
    reason,
    record: frame.record.toString(),
    request: base64(frame.request),
    response: base64(frame.response),
    sealed: base64(frame.sealed),
  })
  try {
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (size + line.length < maxFileBytes) fs.appendFileSync(file, `${line}\n`, { mode: 0o600 })
  } catch {
    // A full disk must not stop the records behind this one.
  }
}

const base64 = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString('base64'))
