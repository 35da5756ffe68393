const secretName =
  /key|secret|token|password|passwd|passphrase|credential|authorization|private|certificate|service_account|cookie|signature|samlresponse|headers$|_json$|(?:^|_)jwt$/i
const harmlessName =
  /(?:^|_)(?:id|ids|hint|type|name|names|mode|status|mapping|enabled|count|limit)$|^masked_|^max_|^(?:input|output|total)_tokens?$/i

/** The entries of these lists name in `key` the field that they look at. */
const namingLists: ReadonlySet<string> = new Set(['conditions', 'group_by'])

/** Stands for the name of the list where the object is a request itself. */
export const requestItself = 'request itself'

/** The members of a JSON Web Key that its owner alone has (RFC 7518, section 6). Their names are ambiguous without the `kty` beside them. */
const privateMembers: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])

/** Returns the members of an object that are a private key by its form, whatever field contains it. */
export const privateParts = (value: object): ReadonlySet<string> => (typeof Reflect.get(value, 'kty') === 'string' ? privateMembers : none)

const none: ReadonlySet<string> = new Set()

/** The fields of a request that serve once: a code of a second factor, or of an identity provider. */
const onceNames: ReadonlySet<string> = new Set(['code'])

/** Returns true if a field of this name may hold a secret: in doubt true. `list` is the name of the list that contains its object. */
export const isSecretName = (name: string, list = ''): boolean =>
  (list === requestItself && onceNames.has(name)) ||
  (!(name === 'key' && namingLists.has(list)) &&
    secretName.test(name) &&
    (!harmlessName.test(name) || /access_key_id|client_secret|(?:^|_)secret_id$/i.test(name)))
