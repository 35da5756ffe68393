/** An attribute of a SCIM resource, as RFC 7643, section 7, defines it. */
export interface Attribute {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex'
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable'
  readonly returned: 'default' | 'always'
  readonly uniqueness: 'none' | 'server'
  readonly canonicalValues?: readonly string[]
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly Attribute[]
}

/** A kind of resource: its core schema, and the extensions that it may have. */
export interface ResourceType {
  readonly name: 'User' | 'Group'
  readonly description: string
  readonly endpoint: '/Users' | '/Groups'
  readonly schema: Schema
  readonly extensions: readonly Schema[]
}

/** A schema, named by its URN. */
export interface Schema {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: readonly Attribute[]
}

type Traits = Partial<Omit<Attribute, 'name' | 'description' | 'type'>>

const usual = {
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
} as const

/** Makes an attribute that holds one text. */
export const text = (name: string, description: string, traits: Traits = {}): Attribute => ({
  ...usual,
  name,
  description,
  type: 'string',
  ...traits,
})

/** Makes an attribute that is true or false. */
export const flag = (name: string, description: string): Attribute => ({ ...usual, name, description, type: 'boolean' })

/** Makes an attribute that holds a URL. */
export const reference = (name: string, description: string, traits: Traits = {}): Attribute => ({
  ...usual,
  name,
  description,
  type: 'reference',
  caseExact: true,
  referenceTypes: ['external'],
  ...traits,
})

/** Makes an attribute that has parts. */
export const complex = (name: string, description: string, traits: Traits & Pick<Attribute, 'subAttributes'>): Attribute => ({
  ...usual,
  name,
  description,
  type: 'complex',
  ...traits,
})

/** Makes a list of values that each may have a type, and of which one may be the primary one. */
export const list = (name: string, description: string, { types = [], value = text('value', description) }: ListTraits = {}) =>
  complex(name, description, {
    multiValued: true,
    subAttributes: [
      value,
      text('display', 'How the value is shown.'),
      text('type', 'What the value is for.', types.length > 0 ? { canonicalValues: types } : {}),
      flag('primary', 'Whether it is the preferred value.'),
    ],
  })

interface ListTraits {
  readonly types?: readonly string[]
  readonly value?: Attribute
}

/** Attributes that every resource has, in any schema. */
export const commonAttributes: readonly Attribute[] = [
  text('id', 'The identifier that Gatehouse gave.', { caseExact: true, mutability: 'readOnly', returned: 'always', uniqueness: 'server' }),
  text('externalId', 'The identifier that the client gave.', { caseExact: true }),
  complex('meta', 'Facts about the resource.', {
    mutability: 'readOnly',
    subAttributes: [
      text('resourceType', 'The kind of resource.', { caseExact: true, mutability: 'readOnly' }),
      { ...text('created', 'When it was made.', { mutability: 'readOnly' }), type: 'dateTime' },
      { ...text('lastModified', 'When it was last changed.', { mutability: 'readOnly' }), type: 'dateTime' },
      reference('location', 'Its URL.', { mutability: 'readOnly' }),
      text('version', 'Its ETag.', { caseExact: true, mutability: 'readOnly' }),
    ],
  }),
]

/** Returns all attributes of a kind of resource that its core schema and the common ones have. */
export const coreAttributes = ({ schema }: ResourceType): readonly Attribute[] => [...commonAttributes, ...schema.attributes]

/** Finds an attribute by its name, in any case. */
export const findAttribute = (attributes: readonly Attribute[], name: string): Attribute | null =>
  attributes.find((one) => one.name.toLowerCase() === name.toLowerCase()) ?? null
