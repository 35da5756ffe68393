const secretName =
  /key|secret|token|password|passwd|passphrase|credential|authorization|private|certificate|service_account|cookie|signature|samlresponse|headers$|_json$/i
const harmlessName =
  /(?:^|_)(?:id|ids|hint|type|name|names|mode|status|mapping|enabled|count|limit)$|^masked_|^max_|^(?:input|output|total)_tokens?$/i

/** The entries of these lists say in `key` what they look at. */
const namingLists: ReadonlySet<string> = new Set(['conditions', 'group_by'])

/** Returns true if a field of this name may hold a secret: in doubt true. `list` is the name of the list that contains its object. */
export const isSecretName = (name: string, list = ''): boolean =>
  !(name === 'key' && namingLists.has(list)) &&
  secretName.test(name) &&
  (!harmlessName.test(name) || /access_key_id|client_secret/i.test(name))
