import { isCredentialHeader } from './headers.ts'
import type { Progress } from './progress.ts'

/** A shorter one would be found in texts that do not mean it. */
const shortestSecret = 8

/** An answer's bytes for the log, without the credential that was sent for it: some providers repeat a key that they refuse. */
export function withoutCredential(bytes: Buffer, progress: Pick<Progress, 'target' | 'prepared'>): Buffer {
  const repeated = secretsOf(progress).filter((secret) => bytes.includes(secret))
  if (repeated.length === 0) return bytes
  const text = repeated.reduce(
    (rest, secret) => rest.replaceAll(Buffer.from(secret).toString('latin1'), '[removed]'),
    bytes.toString('latin1'),
  )
  return Buffer.from(text, 'latin1')
}

function secretsOf({ target, prepared }: Pick<Progress, 'target' | 'prepared'>): readonly string[] {
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
