import { isIP } from 'node:net'
import type { Deps } from '../../../app/deps.ts'
import { ownOrigin } from '../../../app/own-origin.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { Passkey } from './passkey.entity.ts'
import type { Assertion, Registration } from './passkey.schema.ts'
import { challengeMs } from './challenges.ts'

/** Loaded at its first use: most processes never need it. */
const library = () => import('@simplewebauthn/server')

/** The party that passkeys are made for: this installation, by the name under which people reach it. */
interface Party {
  readonly id: string
  readonly origin: string
}

/** Returns the party. AB01 where people reach Gatehouse by an address: passkeys belong to names. */
export function partyOf({ config }: Pick<Deps, 'config'>): Party {
  const { hostname, origin } = new URL(ownOrigin(config))
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) === 0) return { id: hostname, origin }
  throw new ApiError(
    'AB01',
    'Passkeys belong to a host name, and Gatehouse is reached by an IP address: have the operator set PUBLIC_URL to a URL with a host name.',
  )
}

interface RegistrationStart {
  readonly userId: string
  readonly email: string
  readonly known: readonly Passkey[]
}

/** Returns the options with which a browser makes a passkey. It stays on its authenticator, so that it serves without a name too. */
export async function creationOptionsFor(deps: Pick<Deps, 'config'>, { userId, email, known }: RegistrationStart) {
  const party = partyOf(deps)
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Gatehouse',
    rpID: party.id,
    userName: email,
    userID: new Uint8Array(Buffer.from(userId.replaceAll('-', ''), 'hex')),
    attestationType: 'none',
    timeout: challengeMs,
    excludeCredentials: known.map(({ credentialId }) => ({ id: Buffer.from(credentialId).toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
  })
}

/** Returns the options with which a browser shows a passkey; `alone`: in place of a password. They name no account, so that none is revealed. */
export async function requestOptionsFor(deps: Pick<Deps, 'config'>, alone: boolean) {
  const party = partyOf(deps)
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({ rpID: party.id, timeout: challengeMs, userVerification: alone ? 'required' : 'preferred' })
}

/** Returns the challenge that an authenticator has answered; null: none can be read. */
export function challengeIn({ response: { clientDataJSON } }: Registration | Assertion): string | null {
  try {
    const { challenge }: { challenge?: unknown } = Object(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()))
    return typeof challenge === 'string' ? challenge : null
  } catch {
    return null
  }
}

/** Returns the passkey that was made with a challenge of ours. Rejects for anything else. */
export async function verifyRegistration(deps: Pick<Deps, 'config'>, shown: Registration, challenge: string) {
  const party = partyOf(deps)
  await demandPlainAttestation(shown)
  const { verifyRegistrationResponse } = await library()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...shown, clientExtensionResults: {}, response: { ...plain(shown.response), transports: [] } },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: false,
  })
  if (!verified) throw new Error('the registration is not verified')
  return registrationInfo
}

const plain = ({ clientDataJSON, attestationObject }: Registration['response']) => ({ clientDataJSON, attestationObject })

/**
 * Throws for a statement with certificates of its maker, which was not asked for: in order to check them the library would call the hosts that they
 * name.
 */
async function demandPlainAttestation({ response }: Registration): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const object = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')))
  const format = object.get('fmt')
  if (format === 'none' || (format === 'packed' && object.get('attStmt').get('x5c') === undefined)) return
  throw new Error(`the attestation is ${format} with certificates`)
}

interface CheckedAssertion {
  readonly passkey: Passkey
  readonly challenge: string
  /** The passkey stands in place of a password: then the authenticator has to have verified the person, by a PIN or a finger. */
  readonly alone: boolean
}

/** Returns the counter of an authenticator in a good answer to a challenge of ours. Rejects for any other answer. */
export async function verifyAssertion(deps: Pick<Deps, 'config'>, shown: Assertion, { passkey, challenge, alone }: CheckedAssertion) {
  const party = partyOf(deps)
  const { userHandle } = shown.response
  if (userHandle && Buffer.from(userHandle, 'base64url').toString('hex') !== passkey.userId.replaceAll('-', ''))
    throw new Error('the passkey is of another person')
  const { verifyAuthenticationResponse } = await library()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...shown,
      clientExtensionResults: {},
      response: {
        clientDataJSON: shown.response.clientDataJSON,
        authenticatorData: shown.response.authenticatorData,
        signature: shown.response.signature,
      },
    },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: alone,
    credential: {
      id: Buffer.from(passkey.credentialId).toString('base64url'),
      publicKey: new Uint8Array(passkey.publicKey),
      counter: passkey.counter,
    },
  })
  if (!verified) throw new Error('the signature is not that of the passkey')
  return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp }
}
