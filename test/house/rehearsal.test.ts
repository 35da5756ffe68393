import test from 'ava'
import { makers, withoutData } from '../../scripts/rehearse/makers.ts'
import { features } from '../../src/features/index.ts'

const ids = new Set(features.map(({ id }) => id))

test('every feature has a maker of its data, so that upgrades of it are rehearsed', (t) => {
  for (const { id, routes } of features) {
    const maker = makers[id]
    const addIt = `add its maker to scripts/rehearse/makers.ts, with a request for each of its ${routes.length} routes (scripts/rehearse/maker.ts tells how); then try it: npm run rehearse -- --only pairs --pairs <the last but one>-<the last release>`
    t.true(maker !== undefined, `nobody makes data of the feature ${id}: ${addIt}`)
    t.false(maker === withoutData && routes.length > 0, `the feature ${id} has routes, so it has data: ${addIt}`)
  }
})

test('every maker is of a feature that there is', (t) => {
  for (const id of Object.keys(makers)) t.true(ids.has(id), `there is no feature ${id}: take its maker out of scripts/rehearse/makers.ts`)
})
