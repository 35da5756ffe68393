import { feature } from '../../app/feature.ts'
import { Organisation } from './organisation.entity.ts'
import {
  listOrganisations,
  readDefaults,
  readOrganisation,
  readOwnOrganisation,
  updateDefaults,
  updateOrganisation,
} from './organisations.routes.ts'

/** The tenants of an installation. */
export const organisations = feature({
  id: 'organisations',
  since: '1.3.0',
  permissions: ['organisation_settings.read', 'organisation_settings.update'],
  entities: [Organisation],
  routes: [readOwnOrganisation, updateOrganisation, readDefaults, updateDefaults, listOrganisations, readOrganisation],
})
