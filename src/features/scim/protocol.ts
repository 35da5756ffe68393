import type { Protocol, ProtocolAnswer } from '../../app/protocol.ts'
import type { ApiError } from '../../lib/errors.ts'
import type { ScimAnswer } from './answer.ts'
import { identifyClient } from './clients.ts'
import { noteRefusal, noteWrite } from './note-activity.ts'
import { listResourceTypes, listSchemas, readResourceType, readSchema, readServiceProviderConfig } from './resources/discovery.routes.ts'
import {
  createScimGroup,
  deleteScimGroup,
  listScimGroups,
  patchScimGroup,
  readScimGroup,
  replaceScimGroup,
} from './resources/groups.routes.ts'
import { createScimUser, deleteScimUser, listScimUsers, patchScimUser, readScimUser, replaceScimUser } from './resources/users.routes.ts'
import type { ScimType } from './scim-error.ts'

const type = 'application/scim+json; charset=utf-8'

/** SCIM 2.0 (RFC 7643 and 7644), at the path of its standard and at those of other control planes. */
export const scimProtocol: Protocol<ScimAnswer> = {
  prefixes: ['/scim/v2', '/v1/scim/v2', '/v1/scim'],
  whole: ['/scim/v2', '/v1/scim/v2'],
  routes: [
    readServiceProviderConfig,
    listResourceTypes,
    readResourceType,
    listSchemas,
    readSchema,
    listScimUsers,
    createScimUser,
    readScimUser,
    replaceScimUser,
    patchScimUser,
    deleteScimUser,
    listScimGroups,
    createScimGroup,
    readScimGroup,
    replaceScimGroup,
    patchScimGroup,
    deleteScimGroup,
  ],
  takes: 'application/scim+json or application/json',
  identify: identifyClient,
  answer: ({ status, headers, body }) => ({ status, headers, type, body }),
  refuse: toScimError,
  written: noteWrite,
  refused: noteRefusal,
}

/** The names of errors that the frame finds, by their status, or by it and the fault. */
const usualTypes: ReadonlyMap<string, ScimType> = new Map([
  ['400 body', 'invalidSyntax'],
  ['409', 'uniqueness'],
])

/** An error in the schema of SCIM, which strict clients want with no field besides; the header `x-request-id` leads to our log. */
function toScimError(error: ApiError): ProtocolAnswer {
  const { status, message, details, param } = error
  const scimType = details['scimType'] ?? usualTypes.get(`${status} ${param ?? ''}`) ?? usualTypes.get(String(status))
  return {
    status,
    headers: {},
    type,
    body: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      ...(typeof scimType === 'string' && { scimType }),
      detail: message,
    },
  }
}
