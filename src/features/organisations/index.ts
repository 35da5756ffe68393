import { feature } from '../../app/feature.ts'
import { Organisation } from './organisation.entity.ts'
import { listOrganisations, readOrganisation, readOwnOrganisation } from './organisations.routes.ts'

/** The tenants of an installation. */
export const organisations = feature({
  id: 'organisations',
  since: '1.3.0',
  permissions: ['organisation_settings.read'],
  entities: [Organisation],
  routes: [readOwnOrganisation, listOrganisations, readOrganisation],
})
