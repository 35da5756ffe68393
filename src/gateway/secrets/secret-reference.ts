/** The kinds of external secret managers. */
export const managerTypes = ['aws_sm', 'azure_kv', 'hashicorp_vault'] as const

export type ManagerType = (typeof managerTypes)[number]

/** A secret in an external manager: where it is, and how one signs in there. It holds no value of the secret. */
export interface SecretReference {
  readonly id: string
  readonly organisationId: string
  readonly slug: string
  readonly manager: ManagerType
  /** How one signs in, in the clear: `vault_addr`, `aws_region` and the like. */
  readonly auth: Readonly<Record<string, string>>
  readonly path: string
  /** A version of the secret; null: the latest. */
  readonly version: string | null
  /** The field of a secret that is a JSON object; null: the whole secret. */
  readonly secretKey: string | null
  /** A digest of all that decides which value it is: another one is another secret. */
  readonly fingerprint: string
}

/** A field of a credential whose value is a secret of an external manager. */
export interface MappedSecret {
  /** `key`, or a credential field such as `aws_secret_access_key`. */
  readonly field: string
  /** In place of the reference's own; null: that one. */
  readonly secretKey: string | null
  /** `json`: the value has to be a JSON document, such as a service account. */
  readonly format: 'json' | 'string'
  readonly reference: SecretReference
  /** True when the workspace may use the reference. */
  readonly allowed: boolean
}

/** The name of the field that is the provider key itself. */
export const keyField = 'key'
