import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { findProjectPath } from '../../src/app/database/project-path.ts'
import { viewsOf } from '../../src/app/feature.ts'
import { complete } from '../../src/app/snapshot/view.ts'
import { features } from '../../src/features/index.ts'
import { organisationScopes, workspaceScopes } from '../../src/lib/access/scopes.ts'

const routes = features.flatMap((feature) => feature.routes.map((route) => ({ feature, route, name: `${route.method} ${route.path}` })))

test('every route says what it does, who may, and what it answers', (t) => {
  t.true(routes.length > 10)
  for (const { route, name } of routes) {
    t.regex(route.summary, /^[A-Z].{5,100}[^.]$/, name)
    // A signed-in person may ask about themselves.
    const isOwn = route.below === '/' && route.callers !== undefined
    t.is([route.permission].flat().length > 0, route.identify === undefined && !isOwn, name)
    t.truthy(route.response, name)
    t.regex(route.path, /^\/[a-z]/, name)
  }
})

test('every write names its resource for the audit trail', (t) => {
  const nameless = routes.filter(({ route }) => route.method !== 'GET' && !route.resource)
  t.deepEqual(
    nameless.map(({ name }) => name),
    [],
  )
})

test('every path parameter is parsed', (t) => {
  const unparsed = routes.filter(({ route }) => route.path.includes(':') && route.params === undefined)
  t.deepEqual(
    unparsed.map(({ name }) => name),
    [],
  )
})

test('no method and path comes twice', (t) => {
  const names = routes.map(({ route }) => `${route.method} ${route.path.replaceAll(/:\w+/g, ':')}`)
  t.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

test('the scopes of a feature are those that its routes ask for, and each is one that a key can hold', (t) => {
  const grantable = new Set([...organisationScopes, ...workspaceScopes])
  for (const { id, permissions, routes: own } of features) {
    const asked = new Set(own.flatMap(({ permission }) => [permission].flat()))
    t.deepEqual([...asked].filter((scope) => !permissions.includes(scope)).toSorted(), [], `${id}: asked for and not listed`)
    t.deepEqual(
      permissions.filter((scope) => !asked.has(scope)),
      [],
      `${id}: listed and never asked for`,
    )
    t.deepEqual(
      permissions.filter((scope) => !grantable.has(scope)),
      [],
      `${id}: no key can hold it`,
    )
  }
})

test('features have unique ids, come after what they require, and give each view of the snapshot once', (t) => {
  const seen = new Set<string>()
  for (const { id, requires = [], since } of features) {
    t.false(seen.has(id), id)
    t.deepEqual(
      requires.filter((other) => !seen.has(other)),
      [],
      id,
    )
    t.regex(since, /^\d+\.\d+\.\d+$/)
    seen.add(id)
  }
  const views = features.flatMap((feature) => Object.keys(feature.views ?? {}))
  t.deepEqual(views.toSorted(), Object.keys(complete(viewsOf(features))).toSorted())
})

test('the API page names no other host', (t) => {
  for (const file of ['index.html', 'docs.js', 'docs.css']) {
    const path = findProjectPath(join('assets', 'docs', file))
    t.not(path, null, file)
    t.notRegex(
      readFileSync(path ?? '', 'utf8'),
      /https?:|\/\/[a-z0-9-]+\.[a-z]|innerHTML|outerHTML|insertAdjacentHTML|\beval\b|document\.write|@import/,
      file,
    )
  }
})
