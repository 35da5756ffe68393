import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** The arguments of `navigator.credentials.create()` and `get()`; only the used ones. */
export interface PasskeyOptions {
  readonly challenge: string
  readonly user?: { readonly id: string }
}

/** The fault of an answer; by default none. */
export interface Twist {
  readonly origin?: string
  readonly rpId?: string
  /** The person is not verified, only present. */
  readonly unverified?: true
  readonly absent?: true
  readonly counter?: number
  readonly challenge?: string
  readonly type?: string
  readonly userHandle?: string
  readonly crossOrigin?: true
  /** Signed with another key. */
  readonly forged?: true
  /** The format of the attestation, with a foreign certificate. */
  readonly attested?: true
}

/** An authenticator in software with one passkey, in a browser at an origin. */
export interface Authenticator {
  readonly id: string
  create(options: PasskeyOptions, twist?: Twist): object
  get(options: PasskeyOptions, twist?: Twist): object
}

type Encodable = number | string | Buffer | readonly Encodable[] | ReadonlyMap<number | string, Encodable>

/** Returns the head of a value of CBOR (RFC 8949). */
function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}

function cbor(value: Encodable): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) return Buffer.concat([head(5, value.size), ...[...value].flat().map((one: Encodable) => cbor(one))])
  const list = value as readonly Encodable[]
  return Buffer.concat([head(4, list.length), ...list.map((one) => cbor(one))])
}

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest()
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const entries: readonly (readonly [number, Encodable])[] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ]
  return cbor(new Map(entries))
}

const present = 1
const verified = 4
const hasKey = 64

/** Makes an authenticator for the pages of an origin. `counts`: it reports how often it was used, as those of hardware do. */
export function createAuthenticator(origin: string, { counts = true }: { readonly counts?: boolean } = {}): Authenticator {
  const key = newKey()
  const credentialId = randomBytes(32)
  const id = credentialId.toString('base64url')
  let used = 0
  let userHandle = ''

  const clientData = (type: string, { challenge }: PasskeyOptions, twist: Twist): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: twist.type ?? type,
        challenge: twist.challenge ?? challenge,
        origin: twist.origin ?? origin,
        crossOrigin: twist.crossOrigin ?? false,
      }),
    )

  function authenticatorData(twist: Twist, more: Buffer, flags: number): Buffer {
    used += counts ? 1 : 0
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(twist.counter ?? used)
    const own = flags | (twist.absent ? 0 : present) | (twist.unverified || twist.absent ? 0 : verified)
    return Buffer.concat([sha256(twist.rpId ?? new URL(origin).hostname), Buffer.from([own]), counter, more])
  }

  const answer = (response: Readonly<Record<string, unknown>>) => ({ id, rawId: id, type: 'public-key', response })

  return {
    id,
    create(options, twist = {}) {
      userHandle = options.user?.id ?? ''
      const length = Buffer.from([credentialId.length >> 8, credentialId.length & 255])
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(key.publicKey)])
      const client = clientData('webauthn.create', options, twist)
      const authData = authenticatorData(twist, attested, hasKey)
      const statement: readonly (readonly [string, Encodable])[] = twist.attested
        ? [
            ['alg', -7],
            ['sig', sign('sha256', Buffer.concat([authData, sha256(client)]), key.privateKey)],
            ['x5c', [randomBytes(64)]],
          ]
        : []
      const object: readonly (readonly [string, Encodable])[] = [
        ['fmt', twist.attested ? 'packed' : 'none'],
        ['attStmt', new Map(statement)],
        ['authData', authData],
      ]
      return answer({
        clientDataJSON: client.toString('base64url'),
        attestationObject: cbor(new Map(object)).toString('base64url'),
        transports: ['internal'],
      })
    },
    get(options, twist = {}) {
      const client = clientData('webauthn.get', options, twist)
      const data = authenticatorData(twist, Buffer.alloc(0), 0)
      const { privateKey } = twist.forged ? newKey() : key
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
        userHandle: twist.userHandle ?? userHandle,
      })
    },
  }
}
