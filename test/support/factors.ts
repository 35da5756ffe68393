import { Secret, TOTP } from 'otpauth'

const stepMs = 30_000

/** An authenticator app with its secret: its code at a time, epoch milliseconds. */
export const authenticatorApp =
  (secret: string) =>
  (now: number): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now })

/** Returns a time at which an app shows a code that it did not show before. */
export const nextStep = (now: number): number => (Math.floor(now / stepMs) + 2) * stepMs
