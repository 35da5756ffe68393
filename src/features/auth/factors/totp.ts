import { Secret, TOTP } from 'otpauth'

/** Values that every authenticator app supports; some ignore others. */
const usual = { algorithm: 'SHA1', digits: 6, period: 30 } as const

/** How many steps a clock may be off, either way. */
const window = 1

/** Returns a new secret of 160 bits, in base32. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32

interface Labels {
  /** The organisation, as an app shows it beside the address. */
  readonly issuer: string
  readonly email: string
}

/** Returns the text that an authenticator app reads from a QR code. */
export const totpUri = (secret: string, { issuer, email }: Labels): string =>
  new TOTP({ ...usual, issuer, label: email, secret: Secret.fromBase32(secret) }).toString()

/** Returns true if a text looks like a code of an authenticator app. */
export const isTotpCode = (text: string): boolean => /^\d{6}$/.test(text)

/** Returns the time step (RFC 6238) whose code this is; null: of none now. */
export function stepOf(code: string, secret: string, now: number): number | null {
  const totp = new TOTP({ ...usual, secret: Secret.fromBase32(secret) })
  const delta = totp.validate({ token: code, timestamp: now, window })
  return delta === null ? null : totp.counter({ timestamp: now }) + delta
}
