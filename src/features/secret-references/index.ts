import { feature } from '../../app/feature.ts'
import { SecretReference } from './secret-reference.entity.ts'
import {
  createReference,
  deleteReference,
  listReferences,
  readReference,
  testNewReference,
  testReference,
  updateReference,
} from './secret-references.routes.ts'

export { mappedSecretsColumn, openMappings, readMappings, type SealedMapping } from './mapped-secrets.ts'
export {
  type GivenMapping,
  presentMappings,
  resolveMappings,
  secretMappings,
  secretMappingsView,
  type StoredMapping,
} from './secret-mappings.ts'

/** Secrets that stay in external managers, and are read from there at run time. */
export const secretReferences = feature({
  id: 'secret-references',
  since: '1.12.0',
  requires: ['workspaces'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `secret_references.${verb}`),
  entities: [SecretReference],
  routes: [testNewReference, createReference, listReferences, readReference, updateReference, deleteReference, testReference],
})
