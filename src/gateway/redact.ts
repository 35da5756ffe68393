import { fold } from './encoding.ts'
import { isCredentialHeader } from './headers.ts'
import type { Progress } from './progress.ts'
import type { RelayResult } from './relay.ts'

/** A shorter one would be found in texts that do not mean it. */
const shortestSecret = 8

/**
 * An answer's first bytes for the log, without the credential that was sent for it: some providers repeat a key that they refuse.
 * A compressed answer is looked into, and stays compressed.
 */
export function withoutCredential({ capture, encoding }: Pick<RelayResult, 'capture' | 'encoding'>, progress: Sent): Buffer {
  const plain = capture.plain(encoding)
  const repeated = secretsOf(progress).filter((secret) => plain.includes(secret))
  if (repeated.length === 0) return capture.head()
  const text = repeated.reduce(
    (rest, secret) => rest.replaceAll(Buffer.from(secret).toString('latin1'), '[removed]'),
    plain.toString('latin1'),
  )
  return fold(Buffer.from(text, 'latin1'), encoding)
}

type Sent = Pick<Progress, 'target' | 'prepared'>

function secretsOf({ target, prepared }: Sent): readonly string[] {
  const secrets = new Set<string>()
  const add = (secret: string | null | undefined) => {
    if (typeof secret === 'string' && secret.length >= shortestSecret) secrets.add(secret)
  }
  add(target?.credential.key)
  for (const value of Object.values(target?.customHeaders ?? {})) add(value)
  const { headers = [] } = prepared?.request ?? {}
  for (let i = 0; i < headers.length; i += 2) if (isCredentialHeader(headers[i] ?? '')) add(headers[i + 1]?.split(' ').at(-1))
  return [...secrets]
}
