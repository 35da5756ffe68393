import { ApiError } from '../../lib/errors.ts'
import { reasonOf, secretFault } from './fault.ts'
import type { ManagerDeps } from './managers/ask-manager.ts'
import { readAwsSecret } from './managers/aws.ts'
import { readAzureSecret } from './managers/azure.ts'
import { readVaultSecret } from './managers/vault.ts'
import type { ManagerType, SecretReference } from './secret-reference.ts'

type ReadSecret = (reference: SecretReference, deps: ManagerDeps) => Promise<string>

const managers: Readonly<Record<ManagerType, ReadSecret>> = {
  aws_sm: readAwsSecret,
  azure_kv: readAzureSecret,
  hashicorp_vault: readVaultSecret,
}

/** Asks the manager for a secret: its text, a JSON object for Vault. Rejects with `secret_unavailable`, `forbidden`, `blocked_host`. */
export const readSecret: ReadSecret = async (reference, deps) => {
  try {
    return await managers[reference.manager](reference, deps)
  } catch (error) {
    // The sign-in belongs to the reference, and not to the credential of the provider that uses it.
    if (error instanceof ApiError && error.code === 'credential_failed') throw secretFault(reasonOf(error), error.message, error.cause)
    throw error
  }
}
