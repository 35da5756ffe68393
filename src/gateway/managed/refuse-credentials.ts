import { ApiError } from '../../lib/errors.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { JsonPath } from '../../lib/json/json-path.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { type Forms, formsAt, isSecretForm, secretPathsIn } from '../../lib/json/secret-fields.ts'
import type { CallHead } from '../call.ts'
import { gatewayConfig } from '../config/config.schema.ts'
import { secretConfigFields } from '../providers/provider-fields.ts'
import { keyHeaders } from '../wire/headers.ts'

/** The headers under which provider fields that are secrets come. */
const secretHeaders: ReadonlySet<string> = new Set([...secretConfigFields].map((name) => name.replaceAll('_', '-')))
/** The key of the caller itself. */
const ownKey = 'api-key'

/** A line runs when the request has long been answered: with a credential that is stored, and in the name of a key. Throws for any other credential. */
export function refuseCredentials({ caller, headers }: CallHead): void {
  if (caller.key.token !== undefined)
    throw new ApiError(
      'forbidden',
      'A batch runs with the rights of the key that made it, also after a token has ended: make it with an API key.',
    )
  for (const name of keyHeaders) {
    const value = headers.keys[name]
    if (value !== undefined && value !== '' && !caller.holdsOwnKey(value)) throw keepsNone(name)
  }
  for (const name of headers.service.keys()) if (name !== ownKey && secretHeaders.has(name)) throw keepsNone(`${headers.prefix}${name}`)
  const config = jsonOrUndefined(headers.service.get('config') ?? '')
  const [secret] = secretsIn(config, [gatewayConfig])
  if (secret !== undefined) throw keepsNone(`${headers.prefix}config`, pathText(secret))
}

/** Returns the paths of texts that are secrets by the schemas of a value. A header, which is short, has brought it. */
function secretsIn(value: unknown, forms: Forms, at: JsonPath = []): readonly JsonPath[] {
  if (typeof value !== 'object' || value === null) return value !== '' && isSecretForm(forms) ? [at] : []
  const marked = secretPathsIn(forms, value).map((path) => at.concat(path))
  const within = Object.entries(value).flatMap(([name, child]: [string, unknown]) => {
    const member = Array.isArray(value) ? Number(name) : name
    return secretsIn(child, formsAt(forms, member), [...at, member])
  })
  return [...marked, ...within]
}

const keepsNone = (param: string, within = ''): ApiError =>
  new ApiError(
    'invalid_request',
    `${param}${within === '' ? '' : ` (${within})`}: a batch keeps no credential of a request. Name a stored provider in the models of its lines (@slug/model), in x-service-provider or in a config.`,
    { param },
  )
