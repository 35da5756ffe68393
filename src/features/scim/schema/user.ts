import { complex, flag, list, reference, text, type ResourceType, type Schema } from './attribute.ts'

export const userSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const enterpriseSchemaId = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

const name = complex('name', 'The parts of the name of the user.', {
  subAttributes: [
    text('formatted', 'The full name, ready to be shown.'),
    text('familyName', 'The family name.'),
    text('givenName', 'The given name.'),
    text('middleName', 'The middle names.'),
    text('honorificPrefix', 'A title before the name.'),
    text('honorificSuffix', 'A suffix behind the name.'),
  ],
})

const addresses = complex('addresses', 'Postal addresses.', {
  multiValued: true,
  subAttributes: [
    text('formatted', 'The full address, ready to be shown.'),
    text('streetAddress', 'Street and number.'),
    text('locality', 'The city.'),
    text('region', 'The state or region.'),
    text('postalCode', 'The postal code.'),
    text('country', 'The country.'),
    text('type', 'What the address is for.', { canonicalValues: ['work', 'home', 'other'] }),
    flag('primary', 'Whether it is the preferred address.'),
  ],
})

const groups = (mutability: 'readOnly' | 'readWrite') =>
  complex('groups', 'The groups of the user. Only with SCIM_MEMBERSHIP_USER_MODE=ON.', {
    multiValued: true,
    mutability,
    subAttributes: [
      text('value', 'The id of the group.', { caseExact: true, mutability }),
      reference('$ref', 'The URL of the group.', { referenceTypes: ['Group'], mutability: 'readOnly' }),
      text('display', 'The name of the group.', { mutability }),
      text('type', 'How the user is a member.', { canonicalValues: ['direct'], mutability: 'readOnly' }),
    ],
  })

const attributes: Schema['attributes'] = [
  text('userName', 'The name of the user at the identity provider; in most cases the e-mail address.', {
    required: true,
    uniqueness: 'server',
  }),
  name,
  text('displayName', 'The name that is shown.'),
  text('nickName', 'A casual name.'),
  reference('profileUrl', 'The page of the user.'),
  text('title', 'The title, such as Vice President.'),
  text('userType', 'How the user belongs to the organisation, such as Employee.'),
  text('preferredLanguage', 'The language of the user.'),
  text('locale', 'Where the user is, for formats of dates and numbers.'),
  text('timezone', 'The time zone, as the IANA names it.'),
  flag('active', 'False: the user is removed, with all sessions and API keys.'),
  list('emails', 'E-mail addresses. The primary one, or else the first, is the address of the user.', { types: ['work', 'home', 'other'] }),
  list('phoneNumbers', 'Telephone numbers.', { types: ['work', 'home', 'mobile', 'fax', 'pager', 'other'] }),
  list('ims', 'Addresses for instant messages.'),
  list('photos', 'URLs of photos.', { types: ['photo', 'thumbnail'], value: reference('value', 'The URL of a photo.') }),
  addresses,
  list('entitlements', 'The entitlements of the user at the identity provider. Kept, without effect.'),
  list('roles', 'The roles of the user at the identity provider. Kept, without effect: groups give roles.'),
  list('x509Certificates', 'Certificates of the user.', {
    value: { ...text('value', 'A certificate in base64.'), type: 'binary', caseExact: true },
  }),
]

const enterprise: Schema = {
  id: enterpriseSchemaId,
  name: 'EnterpriseUser',
  description: 'Facts about an employee',
  attributes: [
    text('employeeNumber', 'The number of the employee.'),
    text('costCenter', 'The cost centre.'),
    text('organization', 'The organisation.'),
    text('division', 'The division.'),
    text('department', 'The department.'),
    complex('manager', 'The manager of the user.', {
      subAttributes: [
        text('value', 'The id of the manager.', { caseExact: true }),
        reference('$ref', 'The URL of the manager.', { referenceTypes: ['User'] }),
        text('displayName', 'The name of the manager.'),
      ],
    }),
  ],
}

const userType = (membership: 'of groups' | 'of users'): ResourceType => ({
  name: 'User',
  description: 'A person in the organisation',
  endpoint: '/Users',
  schema: {
    id: userSchemaId,
    name: 'User',
    description: 'A person in the organisation',
    attributes: membership === 'of users' ? [...attributes, groups('readWrite')] : attributes,
  },
  extensions: [enterprise],
})

/** Users as resources: groups state their members. */
export const users = userType('of groups')

/** Users as resources of SCIM_MEMBERSHIP_USER_MODE=ON: users say which groups they are in. */
export const usersWithGroups = userType('of users')
