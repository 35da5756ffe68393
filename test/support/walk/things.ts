import { randomUUID } from 'node:crypto'
import type { Department, Noun, Things } from '../tenants.ts'
import { neededQuery } from '../routes.ts'
import type { Operation } from './document.ts'

/** The kind of the resource that a path begins with; a new kind has to be made in test/support/tenants.ts. */
export function nounOf({ path }: Operation, things: Things): Noun {
  const named = path.replace('/admin', '').replace('/users/invites', '/invites').split('/{')[0]?.slice(1)
  const noun = Object.keys(things).find((known): known is Noun => known === named)
  if (noun === undefined) throw new Error(`make ${named} for each workspace`)
  return noun
}

/** The type of key that a path creates. */
const keyTypes = ['organisation', 'workspace'].flatMap((type) => ['service', 'user'].map((subType) => `${type}/${subType}`))

/** Prices of models belong to no tenant: all read the same ones. Group keys of logs are no resource. */
const ofNobody = ['{provider}/{model}', '{groupBy}', '{metadataKey}', '{subType}']

/** Whether a parameter of the path names a resource. */
export const isOnOne = ({ path }: Operation): boolean => path.includes('{') && !ofNobody.some((part) => path.includes(part))

/** The required query of an operation. */
export const neededOf = ({ method, path }: Operation): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(neededQuery({ method, path: path.replaceAll(/\{(\w+)\}/g, ':$1') })))

/** A path to a thing; a second parameter names a thing in it. */
export const pathTo = ({ path }: Operation, reference: string, child: string): string =>
  path
    .replace('{groupBy}', 'model')
    .replace('{metadataKey}', 'env')
    .replace('{type}/{subType}', keyTypes[reference.length % keyTypes.length] ?? '')
    .replace('{provider}/{model}', 'openai/gpt-4o')
    .replace(/\{\w+\}/, encodeURIComponent(reference))
    .replace(/\{\w+\}/, encodeURIComponent(child))

/** A thing in a thing, of those that a department has. */
export const childOf = ({ path }: Operation, things: Things): string =>
  path.includes('{name}')
    ? 'search'
    : path.includes('{userId}')
      ? (things.users[0] ?? '')
      : path.includes('{versionId}')
        ? '1'
        : randomUUID()

/** Every way to name the subject of an operation, with the resources of the department. */
export const pathsOf = (operation: Operation, { things }: Department): readonly string[] =>
  isOnOne(operation)
    ? things[nounOf(operation, things)].map((reference) => pathTo(operation, reference, childOf(operation, things)))
    : [pathTo(operation, 'x', '')]

/** The same with the required query. */
export const urlsOf = (operation: Operation, department: Department): readonly string[] => {
  const query = new URLSearchParams(neededOf(operation)).toString()
  return pathsOf(operation, department).map((path) => (query === '' ? path : `${path}?${query}`))
}
