import type { Maker } from '../maker.ts'
import { setting } from './tenancy.ts'

/** The public key of an issuer that signs no more tokens. */
const key = { kty: 'OKP', crv: 'Ed25519', kid: 'rehearsal', x: 'pMFbywCYmM4ODqbLJckcNwh_ca0m4n0rPmEkmFCKBco' }

/** How tokens of an issuer are verified. */
export const jwtAuthentication: Maker = setting({ jwt: { jwks: { keys: [key] }, issuer: 'https://issuer.example', clock_tolerance: 10 } })

/** The requests about keys. */
export const tokenIntrospection: Maker = async ({ admin, workspaceKey }) => {
  await admin.post('/oauth/introspect', { token: workspaceKey })
}
