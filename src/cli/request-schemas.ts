import type { RequestSchemas } from '../app/audit/write.ts'
import { wholePath } from '../app/route.ts'
import { features } from '../features/index.ts'

interface RouteSchemas extends RequestSchemas {
  readonly method: string
  readonly path: RegExp
  readonly parameters: number
}

/** Those with fewer parameters first: of two that a path fits, the router takes the one that names it. */
const routes: readonly RouteSchemas[] = features
  .flatMap(({ routes: own, protocols = [] }) =>
    own
      .map((route) => known(route, wholePath(route)))
      // A protocol of others, such as SCIM, has its routes below each of its prefixes.
      .concat(
        protocols.flatMap((protocol) =>
          protocol.prefixes.flatMap((prefix) => protocol.routes.map((route) => known(route, prefix + route.path))),
        ),
      ),
  )
  .toSorted((one, other) => one.parameters - other.parameters)

function known({ query, body, method }: Omit<RouteSchemas, 'path' | 'parameters'>, path: string): RouteSchemas {
  return { query, body, method, path: pattern(path), parameters: path.split('/:').length }
}

function pattern(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/:\w+/g, '[^/]+')}/?$`)
}

/** Returns the schemas of the route that a request went to; none: no route of this version has its path. */
export const schemasOf = ({ method, uri }: { readonly method: string; readonly uri: string }): RequestSchemas =>
  routes.find((route) => route.method === method && route.path.test(uri)) ?? {}
