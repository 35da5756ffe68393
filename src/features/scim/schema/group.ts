import { complex, reference, text, type ResourceType } from './attribute.ts'

export const groupSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** Groups as resources. */
export const groups: ResourceType = {
  name: 'Group',
  description: 'A group of users',
  endpoint: '/Groups',
  schema: {
    id: groupSchemaId,
    name: 'Group',
    description: 'A group of users',
    attributes: [
      text('displayName', 'The name of the group. A name of a certain form gives its members a place in a workspace.', {
        required: true,
        uniqueness: 'server',
      }),
      complex('members', 'The users in the group.', {
        multiValued: true,
        subAttributes: [
          text('value', 'The id of the user.', { caseExact: true, mutability: 'immutable' }),
          reference('$ref', 'The URL of the user.', { referenceTypes: ['User'], mutability: 'immutable' }),
          text('display', 'The name of the user.', { mutability: 'readOnly' }),
          text('type', 'What the member is.', { canonicalValues: ['User'], mutability: 'immutable' }),
        ],
      }),
    ],
  },
  extensions: [],
}
