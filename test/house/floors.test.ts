// Folders depend in one direction: a folder imports values only of those before it in its list. Types do not count, because they are gone when the program runs.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

interface House {
  /** Folders, and files beside them without `.ts`, from the ground floor up. */
  readonly floors: string
  /** Files of any floor that every floor may import. */
  readonly ground?: RegExp
  /** Imports that still climb: `importing file > imported file`. The list may only get shorter. */
  readonly climbs: readonly string[]
}

const houses: Readonly<Record<string, House>> = {
  'src/app': {
    floors: `metrics logging own-origin feature due-work boot-refusal database job-locks stored-responses secrets mail deps managed answer-shapes route mounted-app openapi
      snapshot tenant-egress level events journal secret-managers prices log-store cache breakers audit jobs health-report protocol limits http trial-limit
      start authenticator cluster`,
    climbs: [],
  },
  // Tables are the ground of all features.
  'src/features': {
    floors: `references organisations sessions limits workspaces logs api-keys policies parts policy-entities explain log-replay responses batches users
      secret-references saved-filters plugins limit-list labels feedback collections cache alerts integrations mcp-integrations mcp-tokens mcp-servers mcp-sign-ins mcp-connections breakers tokens providers
      virtual-keys prompts access-settings model-configs audit scim identity-providers auth sso rights traces log-exports guardrails configs
      events costs analytics index`,
    ground: /\.entity\.ts$/,
    climbs: [],
  },
  'src/gateway': {
    floors: `wire egress call operations journal patterns tracing key-sets dialects bounds tokens providers credentials secrets targets checks
      stored-responses settings routing answers cache exchange prices metering mirrors prompts outgoing models limits callers front trail
      config batches ending attempts explain managed pipeline mcp sockets gateway ports`,
    climbs: [],
  },
}

const root = path.resolve(import.meta.dirname, '../..')

/** The files that a file imports values of, as paths below `base` without `.ts`. */
function importsOf(base: string, file: string): readonly string[] {
  const text = readFileSync(path.join(root, base, file), 'utf8')
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(?!type\b)([^'";]*?)\s*from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gms),
  ]
  return found
    .filter(([, clause = '']) => !importsTypesAlone(clause))
    .map(([, , from, bare, late]) => path.posix.join(base, path.posix.dirname(file), from ?? bare ?? late ?? ''))
    .filter((name) => name.startsWith(`${base}/`))
    .map((name) => name.slice(base.length + 1))
}

function importsTypesAlone(clause: string): boolean {
  const names =
    /^\{(.*)\}$/s
      .exec(clause.trim())?.[1]
      ?.split(',')
      .map((name) => name.trim()) ?? []
  return names.length > 0 && names.every((name) => name === '' || name.startsWith('type '))
}

const floorOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? ''
const bare = (file: string): string => file.replace(/\.ts$/, '')

for (const [base, { floors, ground, climbs }] of Object.entries(houses)) {
  const order = floors.split(/\s+/)
  const files = readdirSync(path.join(root, base), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

  test(`${base}: each folder has its floor`, (t) => {
    t.deepEqual(order.toSorted(), [...new Set(files.map(floorOf))].toSorted())
  })

  test(`${base}: no folder imports values of a folder above it`, (t) => {
    const climbing = files.flatMap((file) =>
      importsOf(base, file)
        .filter((name) => ground?.test(name) !== true && order.indexOf(floorOf(name)) > order.indexOf(floorOf(file)))
        .map((name) => `${bare(file)} > ${bare(name)}`),
    )
    t.deepEqual(
      climbing.toSorted(),
      climbs.toSorted(),
      'move the piece that both need down, or hand its value in; take a climb that is gone off the list',
    )
  })
  if (ground !== undefined)
    test(`${base}: the files that every floor may import import none of them`, (t) => {
      const grounded = files.filter((file) => ground.test(file))
      t.true(grounded.length > 0)
      t.deepEqual(
        grounded.flatMap((file) => importsOf(base, file).filter((name) => !ground.test(name) && floorOf(name) !== floorOf(file))),
        [],
      )
    })
}
