/** Credential fields that are secrets: stored encrypted, masked wherever a configuration is shown. All other fields are settings. */
export const secretFields: ReadonlySet<string> = new Set([
  'aws_secret_access_key',
  'aws_session_token',
  'azure_ad_token',
  'azure_entra_client_secret',
  'azure_entra_client_certificate',
  'vertex_service_account_json',
  'oracle_private_key',
  'oracle_key_passphrase',
  'modal_secret',
])
