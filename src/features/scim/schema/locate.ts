import { coreAttributes, findAttribute, type Attribute, type ResourceType, type Schema } from './attribute.ts'

/** The attribute that a path names. */
export interface AttributeLocation {
  /** The extension that has it; null: the resource itself. */
  readonly extension: Schema | null
  readonly attribute: Attribute
  readonly part: Attribute | null
}

/** Returns the attribute that a path such as `name.givenName` or `urn:…:User:department` names, in any case; null: there is none. */
export function locate(type: ResourceType, path: string): AttributeLocation | null {
  const { extension, rest } = withoutSchema(type, path)
  const [name = '', partName, ...more] = rest.split('.')
  if (more.length > 0) return null
  const attribute = findAttribute(extension === null ? coreAttributes(type) : extension.attributes, name)
  if (attribute === null) return null
  if (partName === undefined) return { extension, attribute, part: null }
  const part = findAttribute(attribute.subAttributes ?? [], partName)
  return part === null ? null : { extension, attribute, part }
}

/** Returns the extension that a path names as a whole. */
export const extensionOf = ({ extensions }: ResourceType, path: string): Schema | null =>
  extensions.find(({ id }) => id.toLowerCase() === path.toLowerCase()) ?? null

function withoutSchema({ schema, extensions }: ResourceType, path: string): { readonly extension: Schema | null; readonly rest: string } {
  const named = [schema, ...extensions].find(({ id }) => path.toLowerCase().startsWith(`${id.toLowerCase()}:`))
  if (named === undefined) return { extension: null, rest: path }
  return { extension: named === schema ? null : named, rest: path.slice(named.id.length + 1) }
}
