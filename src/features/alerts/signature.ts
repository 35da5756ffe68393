import { createHmac, randomBytes } from 'node:crypto'

const front = 'whsec_'

/** Makes a secret as receivers' libraries for Standard Webhooks take it: 32 random bytes. */
export const createSecret = (): string => front + randomBytes(32).toString('base64')

export interface Message {
  /** The same in every attempt, so that a receiver can skip repeated events. */
  readonly id: string
  /** Epoch seconds of this attempt: a receiver refuses old ones. */
  readonly timestamp: number
  readonly body: string
}

/** Returns the headers of a delivery, by the Standard Webhooks specification: HMAC-SHA256 over id, time and body. */
export function signedHeaders({ id, timestamp, body }: Message, secret: string): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice(front.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}
