/** The reasons to refuse a release, a bundle or a registry. */
export type FaultCode =
  | 'archive_malformed'
  | 'blob_changed'
  | 'blob_missing'
  | 'build_failed'
  | 'file_changed'
  | 'file_exists'
  | 'file_missing'
  | 'file_unlisted'
  | 'key_unusable'
  | 'manifest_malformed'
  | 'nightly_differs'
  | 'nightly_failed'
  | 'nightly_missing'
  | 'registry_refused'
  | 'registry_unreachable'
  | 'signature_missing'
  | 'signature_wrong'
  | 'sources_changed'
  | 'version_differs'
  | 'version_exists'

/** A refusal with a name, which its message begins with: it is for the person at the command line. */
export class DistributionFault extends Error {
  readonly code: FaultCode

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(`${code}: ${message}`, options)
    this.name = 'DistributionFault'
    this.code = code
  }
}
