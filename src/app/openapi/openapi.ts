import type { z } from 'zod'
import { errorSchema } from './error-schema.ts'
import type { Example } from './example.ts'
import { exampleAt, withExamples } from './examples.ts'
import { groups, introduction } from './introduction.ts'
import { laterNames } from './later-names.ts'
import { gatewayPaths } from './gateway-paths.ts'
import { schemaWriter, type SchemaWriter } from './schemas.ts'
import type { Feature } from '../feature.ts'
import type { ShownLevel } from '../../release/at-level.ts'
import { answerTypes, isKept } from '../answer-shapes.ts'
import { isConditional, type CallerKind, type Route } from '../route.ts'

type Json = Readonly<Record<string, unknown>>

interface DescriptionOptions {
  readonly version: string
  /** The flags that are OFF; absent: none. */
  readonly off?: ReadonlySet<string>
  readonly publicUrl: string | null
  readonly examples?: ReadonlyMap<string, Example>
}

const shownOf = ({ version: release, off }: Pick<DescriptionOptions, 'off' | 'version'>): ShownLevel => ({
  release,
  ...(off !== undefined && { off }),
})

/** OpenAPI 3.1 is a fold over the same routes that the server mounts, so the two cannot drift; `version` is the level that it describes. */
export function openapiDocument(features: readonly Feature[], about: DescriptionOptions): Json {
  const writer = schemaWriter(shownOf(about))
  const write: SchemaWriter['write'] = (schema, io) => writer.write(schema, io)
  // Answers first, so that of two shapes with one id theirs keeps it.
  for (const { response } of features.flatMap(({ routes }) => routes)) writer.write(response, 'output')
  const paths = pathsOf(features, about, { describe: (route, tag) => operation(route, { tag, writer, about }), write })
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gatehouse',
      version: about.version,
      description: introduction,
    },
    servers: [{ url: `${about.publicUrl ?? ''}/v1` }],
    security: [{ serviceKey: [] }, { bearer: [] }, { session: [] }],
    tags: ['gateway', ...features.filter(({ routes }) => routes.length > 0).map(({ id }) => id)].map(groupOf),
    paths: withExamples(paths, examplesAt(features, about)),
    components: {
      schemas: { ...writer.components(), Error: errorSchema },
      responses: errorResponses,
      securitySchemes: {
        serviceKey: { type: 'apiKey', in: 'header', name: 'x-service-api-key' },
        bearer: { type: 'http', scheme: 'bearer', description: "An API key, or a JSON Web Token of the organisation's issuer." },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-gatehouse',
          description: 'The session of a person; `gatehouse` without TLS. Requests that write need `x-csrf-token` too.',
        },
      },
    },
  }
}

const groupOf = (name: string): Json => ({ name, ...(groups[name] !== undefined && { description: groups[name] }) })

/** Returns the operations that the document of these features has, such as `GET /keys/{id}`, without describing them. */
export const operationsOf = (features: readonly Feature[]): readonly string[] =>
  Object.entries(pathsOf(features, { publicUrl: null }, { describe: () => ({}), write: () => ({}) })).flatMap(([at, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
  )

interface PathWriter extends Pick<SchemaWriter, 'write'> {
  readonly describe: (route: Route, tag: string) => Json
}

function pathsOf(
  features: readonly Feature[],
  { publicUrl }: Pick<DescriptionOptions, 'publicUrl'>,
  { describe, write }: PathWriter,
): Readonly<Record<string, Json>> {
  const paths: Record<string, Json> = {}
  for (const { id, routes } of features) {
    for (const route of routes) {
      const path = pathOf(route)
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route, id) }
    }
  }
  return { ...gatewayPaths(publicUrl, { write }), ...paths }
}

/** Returns the credentials of a route that takes others than most. */
const securityOf = ({ callers }: Route): Json => (callers === undefined ? {} : { security: callers.flatMap((kind) => schemes[kind]) })

const schemes: Readonly<Record<CallerKind, readonly Json[]>> = {
  key: [{ serviceKey: [] }, { bearer: [] }],
  session: [{ session: [] }],
  scim: [{ bearer: [] }],
}

/** The server of a path that does not stand below `/v1`. */
const atRoot = ({ publicUrl }: Pick<DescriptionOptions, 'publicUrl'>): Json => ({ servers: [{ url: publicUrl ?? '/' }] })

const pathOf = ({ path }: Route) => path.replaceAll(/:(\w+)/g, '{$1}')

function examplesAt(features: readonly Feature[], { examples = new Map(), ...about }: DescriptionOptions): ReadonlyMap<string, Example> {
  const shown = shownOf(about)
  const level = { shown, names: { level: shown.release, later: laterNames(features, shown.release) } }
  const routes = new Map(features.flatMap((one) => one.routes.map((route) => [`${route.method} ${pathOf(route)}`, route])))
  return new Map(
    [...examples].map(([name, given]) => {
      const route = routes.get(name)
      return [name, route === undefined ? given : exampleAt(given, route, level)]
    }),
  )
}

interface OperationContext {
  readonly tag: string
  readonly writer: SchemaWriter
  readonly about: Pick<DescriptionOptions, 'publicUrl'>
}

function operation(route: Route, { tag, writer, about }: OperationContext): Json {
  const { body, response, permission } = route
  return {
    operationId: operationId(route),
    tags: [tag],
    summary: route.summary,
    'x-permission': permission,
    ...(route.below === '/' && atRoot(about)),
    ...(route.identify === undefined ? securityOf(route) : { security: [] }),
    parameters: [...pathParameters(route, writer), ...queryParameters(route, writer), ...headerParameters(route)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: !body.safeParse(undefined).success, content: bodyContent(route, writer.write(body, 'input')) } }),
    responses: {
      200: { description: 'Done.', content: content(writer.write(response, 'output'), answerTypes(route.answers)) },
      ...Object.fromEntries(failures(route).map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  }
}

const content = (schema: Json, types = answerTypes()): Json => Object.fromEntries(types.map((type) => [type, { schema }]))

const bodyContent = ({ takes, answers }: Pick<Route, 'takes' | 'answers'>, schema: Json): Json => ({
  ...content(schema),
  ...(takes === 'form' && { 'application/x-www-form-urlencoded': { schema } }),
  ...(answers?.kind === 'protobuf' && { 'application/x-protobuf': { schema: { type: 'string', format: 'binary' } } }),
})

/** `post_api_keys_type_sub_type`: stable, and unique because method and path are. */
const operationId = ({ method, path }: Route) => `${method.toLowerCase()}${path.replaceAll(/[^a-zA-Z0-9]+/g, '_')}`

/** Every `:name` of the path is a parameter, also when the route gives no schema for it. */
function pathParameters(route: Route, writer: SchemaWriter): readonly Json[] {
  const described = new Map(parameters('path', route.params, writer).map((parameter) => [parameter['name'], parameter]))
  return [...route.path.matchAll(/:(\w+)/g)].map(
    ([, name]) => described.get(name) ?? { in: 'path', name, required: true, schema: { type: 'string' } },
  )
}

function parameters(place: 'path' | 'query', schema: z.ZodType | undefined, writer: SchemaWriter): readonly Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = writer.inline(schema)
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    in: place,
    name,
    required: place === 'path' || required.includes(name),
    description,
    schema: rest,
  }))
}

/** A field under each of its names. */
function queryParameters({ query, aliases = {} }: Route, writer: SchemaWriter): readonly Json[] {
  const own = parameters('query', query, writer)
  const named = (alias: string, name: string | undefined) => own.filter((parameter) => parameter['name'] === name).map(renamed(alias))
  return own.concat(Object.entries(aliases).flatMap(([alias, name]) => named(alias, name)))
}

const renamed = (name: string) => (parameter: Json) => Object.assign({}, parameter, { name })

const ifMatch: Json = {
  in: 'header',
  name: 'if-match',
  required: false,
  description: 'The ETag of the GET. If the resource has changed since, the change is refused with 412.',
  schema: { type: 'string' },
}

const conditions: Readonly<Partial<Record<Route['method'], Json>>> = {
  POST: {
    in: 'header',
    name: 'idempotency-key',
    required: false,
    description: 'For 24 hours the same request with the same key is done once, and answered alike.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  PUT: ifMatch,
  DELETE: ifMatch,
}

const headerParameters = ({ method, answers }: Route): readonly Json[] => {
  const condition = isKept(answers) ? conditions[method] : undefined
  return condition === undefined ? [] : [condition]
}

const failures = ({ body, path, method }: Route): readonly number[] => [
  400,
  401,
  403,
  ...(path.includes(':') ? [404] : []),
  ...(method === 'GET' ? [] : [409]),
  ...(isConditional({ method }) ? [412] : []),
  ...(body === undefined ? [] : [413, 415]),
  503,
]

const errorResponses = Object.fromEntries(
  Object.entries({
    400: 'A field, parameter or header is wrong; the message names it.',
    401: 'No key, an unknown one, or an expired one.',
    403: 'The key lacks the scope, or the resource is of another workspace.',
    404: 'There is no such resource, or its feature is off.',
    409: 'It exists already, or something depends on it.',
    412: 'It was changed since the ETag in `if-match` was answered.',
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    503: 'The database is away, or the server is sealed or shutting down; try again after `retry-after` seconds.',
  }).map(([status, description]) => [status, { description, content: content({ $ref: '#/components/schemas/Error' }) }]),
)
