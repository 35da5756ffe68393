/** Secrets of external managers: references to them, reading and trying them. */
export { readSecret } from '../secrets/read-secret.ts'
export { createSecretCache, type SecretCache, type SecretOutcome } from '../secrets/secret-cache.ts'
export { keyField, type ManagerType, managerTypes, type MappedSecret, type SecretReference } from '../secrets/secret-reference.ts'
export { managerOrigin, secretSteps, testSecret } from '../secrets/test-secret.ts'
