// The packages of SAML, loaded with the first sign-in. A module of our own names what it takes of them: packages of CommonJS that are imported
// when they are needed have no names in the built program.
export { generateServiceProviderMetadata, SAML, ValidateInResponseTo } from '@node-saml/node-saml'
export { decrypt } from 'xml-encryption'
