const secretName =
  /key|secret|token|password|passwd|passphrase|credential|authorization|private|certificate|service_account|cookie|signature|headers$|_json$/i
const harmlessName =
  /(?:^|_)(?:id|ids|hint|type|name|names|mode|status|mapping|enabled|count|limit)$|^masked_|^max_|^(?:input|output|total)_tokens?$/i

/** Whether a field of this name may hold a secret: in doubt yes. */
export const isSecretName = (name: string): boolean =>
  secretName.test(name) && (!harmlessName.test(name) || /access_key_id|client_secret/i.test(name))
