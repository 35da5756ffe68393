import type { RequestSchemas } from '../app/audit/write.ts'
import { wholePath } from '../app/route.ts'
import { features } from '../features/index.ts'

interface RouteSchemas extends RequestSchemas {
  readonly method: string
  readonly path: RegExp
}

/** Those with fewer parameters first: of two that a path fits, the router takes the one that names it. */
const routes: readonly RouteSchemas[] = features
  .flatMap(({ routes: own }) => own)
  .toSorted((one, other) => parametersOf(one) - parametersOf(other))
  .map(({ query, body, method, ...route }) => ({ query, body, method, path: pattern(wholePath(route)) }))

function parametersOf({ path }: { readonly path: string }): number {
  return path.split('/:').length
}

function pattern(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/:\w+/g, '[^/]+')}/?$`)
}

/** Returns the schemas of the route that a request went to; none: no route of this version has its path. */
export const schemasOf = ({ method, uri }: { readonly method: string; readonly uri: string }): RequestSchemas =>
  routes.find((route) => route.method === method && route.path.test(uri)) ?? {}
