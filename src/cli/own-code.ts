import { healthView } from '../app/http/process-routes.ts'
import { operationsOf } from '../app/openapi/openapi.ts'
import { settingNames, settings } from '../config/index.ts'
import { version } from '../config/version.ts'
import { features } from '../features/index.ts'
import { marksWithin } from '../release/marks.ts'
import type { Code } from '../release/project.ts'
import { compareVersions } from '../release/version.ts'
import { preflightChecks } from './preflight/checks.ts'

/** Reads the code's own description from this checkout. */
export function readCode(): Code {
  return {
    version: version(),
    features,
    settings: settingNames.map((name) => ({ name, since: settings[name].since })),
    fields: markedFields(),
    operations: kept(servedAt),
    preflightChecks: preflightChecks.map(({ id }) => id),
  }
}

/** All marks in the schemas of requests and answers of the routes. */
const markedFields = (): Code['fields'] => {
  const routes = features.flatMap((one) => one.routes)
  const places = [
    ...routes.flatMap(({ method, path: at, query, body, params, response }) =>
      Object.entries({ query, body, path: params, answer: response }).map(([place, schema]) => ({
        operation: `${method} ${at.replaceAll(/:(\w+)/g, '{$1}')}`,
        place,
        schema,
      })),
    ),
    { operation: 'GET /health', place: 'answer', schema: healthView },
  ]
  return places.flatMap(({ operation, place, schema }) =>
    schema === undefined ? [] : marksWithin(schema).map(({ name, since }) => ({ operation, at: `${place}.${name}`, since })),
  )
}

/** Asked for once a level. */
function kept<T>(read: (level: string) => T): (level: string) => T {
  const known = new Map<string, T>()
  return (level) => {
    const value = known.get(level) ?? read(level)
    known.set(level, value)
    return value
  }
}

const servedAt = (level: string) => operationsOf(features.filter(({ since }) => compareVersions(since, level) <= 0))
