import { may, type Scope } from '../../shell/scope.ts'
import type { Answer } from '../../api/client.ts'

export type KeyType = 'organisation-service' | 'workspace-service' | 'workspace-user'

/** The first halves of the rights on keys, by the kind of key. */
export const families: Readonly<Record<KeyType, string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
}

/** The kinds of keys in one word. */
export const kindWords: Readonly<Record<KeyType, string>> = {
  'organisation-service': 'organisation',
  'workspace-service': 'service',
  'workspace-user': 'person',
}

/** Returns the kinds of keys that a person may make in a scope. */
export const creatable = (scope: Scope): readonly KeyType[] =>
  (scope.kind === 'organisation' ? (['organisation-service'] as const) : (['workspace-service', 'workspace-user'] as const)).filter(
    (type) => may(scope, `${families[type]}.create`),
  )

export type Catalogue = Answer<'GET /catalogue/scopes'>
type Preset = Catalogue['presets'][number]

/** Returns the rights of a preset that the person can pass on; somebody gives no right that they lack. */
export const scopesOf = (preset: Preset | undefined, type: KeyType, scope: Scope): readonly string[] =>
  (preset?.scopes.find((one) => one.key_type === type)?.scopes ?? []).filter((right) => may(scope, right))

/** Returns the tree of the rights that a kind of key can have. */
export const groupsOf = ({ groups }: Catalogue, type: KeyType, scope: Scope) =>
  groups.flatMap(({ id, title, scopes }) => {
    const own = scopes.filter(({ key_types: types }) => types.includes(type))
    return own.length === 0 ? [] : [{ id, title, scopes: own.map((one) => ({ scope: one.scope, locked: !may(scope, one.scope) })) }]
  })
