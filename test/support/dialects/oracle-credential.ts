import { generateKeyPairSync } from 'node:crypto'
import type { Credential } from '../../../src/gateway/providers/provider.ts'

/** A signing key of a user of Oracle's, made once a process. */
export const oracleKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey

export const oracleUser = {
  tenancy: 'ocid1.tenancy.oc1..t',
  user: 'ocid1.user.oc1..u',
  fingerprint: '20:3b:97:13:55:1c:aa:66:63:0b:3f:ca:9b:45:c6:41',
}

export const oracleCredential = (fields: Readonly<Record<string, string>> = {}): Credential => ({
  key: null,
  fields: {
    oracle_region: 'eu-frankfurt-1',
    oracle_tenancy: oracleUser.tenancy,
    oracle_user: oracleUser.user,
    oracle_fingerprint: oracleUser.fingerprint,
    oracle_private_key: oracleKey,
    ...fields,
  },
})
