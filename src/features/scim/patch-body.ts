import { z } from 'zod'
import { childOf, type JsonPath } from '../../lib/json/json-path.ts'
import { containingSecrets } from '../../lib/json/secret-fields.ts'
import { isSecretName } from '../../lib/text/secret-names.ts'
import { scimError } from './scim-error.ts'
import { isObject } from './schema/normalise.ts'
import type { Operation } from './schema/patch.ts'

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const maxOperations = 1000

/** A body as it came: SCIM has its own checks, and its own names for faults. The `path` of an operation names its `value`, such as a password. */
export const anyBody = containingSecrets(z.record(z.string(), z.unknown()), secretsOf)

function secretsOf(body: unknown): readonly JsonPath[] {
  return membersNamed(body, 'operations').flatMap((list) => {
    const operations = childOf(body, list)
    if (!Array.isArray(operations)) return []
    return operations.flatMap((operation, at) =>
      membersNamed(operation, 'path').some((member) => namesSecret(childOf(operation, member)))
        ? membersNamed(operation, 'value').map((member) => [list, at, member])
        : [],
    )
  })
}

/** `password`, `urn:…:User:password`, `emails[type eq "work"].secret`. */
const namesSecret = (path: unknown): boolean => typeof path === 'string' && isSecretName(path.split(/[.:\]]/).at(-1) ?? '')

/** Returns the members of an object with a name, in any case. */
const membersNamed = (value: unknown, name: string): readonly string[] =>
  isObject(value) ? Object.keys(value).filter((member) => member.toLowerCase() === name) : []

const isVerb = (text: string): text is Operation['op'] => text === 'add' || text === 'replace' || text === 'remove'

/** Reads the operations of a PATCH; verbs and names count in any case. Throws `invalidSyntax`, `tooMany`. */
export function operationsOf(body: Readonly<Record<string, unknown>>): readonly Operation[] {
  const fields = lowered(body)
  const schemas = fields['schemas']
  if (schemas !== undefined && !(Array.isArray(schemas) && schemas.some((one) => String(one).toLowerCase() === patchSchema.toLowerCase())))
    throw scimError('invalidSyntax', `\`schemas\` of a PATCH has ${patchSchema}.`, 'schemas')
  const operations = fields['operations']
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimError('invalidSyntax', '`Operations` is a list that is not empty.', 'Operations')
  if (operations.length > maxOperations) throw scimError('tooMany', `A PATCH has at most ${maxOperations} operations.`, 'Operations')
  return operations.map(toOperation)
}

function toOperation(given: unknown): Operation {
  if (!isObject(given)) throw scimError('invalidSyntax', 'An operation is an object.', 'Operations')
  const { op: verb, path, value } = lowered(given)
  const op = typeof verb === 'string' ? verb.toLowerCase() : ''
  if (!isVerb(op)) throw scimError('invalidSyntax', '`op` is add, replace or remove.', 'op')
  if (path !== undefined && path !== null && typeof path !== 'string') throw scimError('invalidPath', '`path` is a text.', 'path')
  if (op === 'add' && value === undefined) throw scimError('invalidValue', 'An operation that adds something has a `value`.', 'value')
  return { op, path: path ?? undefined, value }
}

const lowered = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
