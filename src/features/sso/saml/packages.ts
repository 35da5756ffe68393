// The packages of SAML, loaded with the first sign-in. A module of our own names the exports that it uses: packages of CommonJS that are imported on
// demand have no names in the built program.
export { generateServiceProviderMetadata, SAML, ValidateInResponseTo } from '@node-saml/node-saml'
export { decrypt } from 'xml-encryption'
