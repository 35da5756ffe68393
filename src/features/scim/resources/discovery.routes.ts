import { z } from 'zod'
import { route, type Call } from '../../../app/route.ts'
import { notFound } from '../../../app/database/find.ts'
import { answered, scimAnswer } from '../answer.ts'
import { scimBase } from '../base-url.ts'
import { listAnswer, maxCount } from '../list-query.ts'
import { isByUsers } from '../membership-mode.ts'
import { groups } from '../schema/group.ts'
import type { Document } from '../schema/normalise.ts'
import type { ResourceType, Schema } from '../schema/attribute.ts'
import { userType } from './user-rows.ts'

const permission: readonly string[] = []
const params = z.object({ id: z.string() })
type Deps = Call<unknown, unknown, unknown>['deps']

export const readServiceProviderConfig = route({
  method: 'GET',
  path: '/ServiceProviderConfig',
  summary: 'Read the features that this server supports',
  permission,
  response: scimAnswer,
})(async ({ deps }) =>
  answered({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxCount },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that POST /v1/scim/tokens gives, as Authorization: Bearer.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${scimBase(deps.config)}/ServiceProviderConfig` },
  }),
)

export const listResourceTypes = route({
  method: 'GET',
  path: '/ResourceTypes',
  summary: 'List the kinds of resources',
  permission,
  response: scimAnswer,
})(async ({ deps }) => whole(typesOf(deps).map((type) => presentType(type, deps))))

export const readResourceType = route({
  method: 'GET',
  path: '/ResourceTypes/:id',
  summary: 'Read a kind of resource',
  permission,
  params,
  response: scimAnswer,
})(async ({ deps, params: { id } }) => {
  const type = typesOf(deps).find(({ name }) => name === id)
  if (type === undefined) throw notFound('resource type', id)
  return answered(presentType(type, deps))
})

export const listSchemas = route({
  method: 'GET',
  path: '/Schemas',
  summary: 'List the schemas of resources',
  permission,
  response: scimAnswer,
})(async ({ deps }) => whole(schemasOf(deps).map((schema) => presentSchema(schema, deps))))

export const readSchema = route({
  method: 'GET',
  path: '/Schemas/:id',
  summary: 'Read the schema of a kind of resource',
  permission,
  params,
  response: scimAnswer,
})(async ({ deps, params: { id } }) => {
  const schema = schemasOf(deps).find((one) => one.id.toLowerCase() === id.toLowerCase())
  if (schema === undefined) throw notFound('schema', id)
  return answered(presentSchema(schema, deps))
})

const whole = (resources: readonly Document[]) => answered(listAnswer(resources, { total: resources.length, startIndex: 1 }))

const typesOf = (deps: Deps): readonly ResourceType[] => [userType(isByUsers(deps)), groups]

const schemasOf = (deps: Deps): readonly Schema[] => typesOf(deps).flatMap(({ schema, extensions }) => [schema].concat(extensions))

const presentType = ({ name, description, endpoint, schema, extensions }: ResourceType, { config }: Deps): Document => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: name,
  name,
  description,
  endpoint,
  schema: schema.id,
  schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
  meta: { resourceType: 'ResourceType', location: `${scimBase(config)}/ResourceTypes/${name}` },
})

const presentSchema = ({ id, name, description, attributes }: Schema, { config }: Deps): Document => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  name,
  description,
  attributes,
  meta: { resourceType: 'Schema', location: `${scimBase(config)}/Schemas/${id}` },
})
