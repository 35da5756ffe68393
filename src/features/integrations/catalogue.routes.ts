import { route } from '../../app/route.ts'
import { integrationScopes } from './access.ts'
import { catalogueAt } from './catalogue.ts'
import { catalogueFilter, providerCatalogue } from './catalogue.schema.ts'

export const listCatalogue = route({
  method: 'GET',
  path: '/catalogue/providers',
  summary: 'List the providers that integrations may be of, with their fields and operations',
  permission: integrationScopes('list'),
  query: catalogueFilter,
  response: providerCatalogue,
})(async ({ query: { id, operation }, deps: { level } }) => {
  const rows = catalogueAt((release) => level.atLeast(release))
  const serves = ({ operations }: (typeof rows)[number]) => operation === undefined || operations.some((one) => one.operation === operation)
  return { object: 'provider_catalogue' as const, data: rows.filter((row) => (id === undefined || row.id === id) && serves(row)) }
})
