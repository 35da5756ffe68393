import { z } from 'zod'
import { operations } from '../../operations/operations.ts'
import { check, verdict, type RequestFacts } from '../check.ts'

/** Kinds of request that are no operation of ours: the pass-through, and paths below it that have a name of their own. */
const otherTypes = {
  proxy: null,
  rerank: /^\/rerank$/,
  realtime: /^\/realtime$/,
  getBatchOutput: /^\/batches\/[^/]+\/output$/,
} as const satisfies Record<string, RegExp | null>

const streamed = ['complete', 'chatComplete', 'messages', 'createModelResponse']

/** A connection is no request of a kind, and its turns are. */
const requests = Object.entries(operations).flatMap(([name, spec]) => ('socket' in spec ? [] : [name]))

const types = [...requests, ...Object.keys(otherTypes), ...streamed.map((name) => `stream-${name}`)]
const typeField = z.enum(types)
const typesField = z
  .preprocess(
    (given) => (typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given),
    z.array(typeField).max(types.length),
  )
  .optional()

/** Every name that a request has: one that a prompt made has that of prompts, too. */
function typesOf({ operation, prompted, path, stream }: RequestFacts): readonly string[] {
  const own = prompted ? ['promptComplete', operation] : [operation]
  const names = [...own, ...Object.entries(otherTypes).flatMap(([name, pattern]) => (pattern?.test(path) === true ? [name] : []))]
  return stream ? [...names, `stream-${operation}`] : names
}

/** Checks which kinds of request may be made. */
export const allowedRequestTypes = check({
  id: 'default.allowedRequestTypes',
  title: 'Allowed request types',
  about:
    'Passes when the kind of the request is among the allowed ones, if there are any, and not among the blocked ones. A prompt is both `promptComplete` and `chatComplete`.',
  since: '1.3.1',
  phases: ['input'],
  reads: 'request',
  readsBody: false,
  fields: {
    allowedTypes: typesField.meta({ description: 'The kinds that may be made; empty: all.' }),
    blockedTypes: typesField.meta({ description: 'The kinds that may not be made.' }),
  },
  rule({ allowedTypes = [], blockedTypes = [] }) {
    const both = allowedTypes.find((name) => blockedTypes.includes(name))
    return both === undefined ? null : { field: 'blockedTypes', message: `${both} is allowed and blocked at once.` }
  },
  ready: ({ allowedTypes = [], blockedTypes = [] }) => ({
    judgesPrefix: false,
    run({ request }) {
      const names = typesOf(request)
      const isIn = (list: readonly string[]) => names.some((name) => list.includes(name))
      const passed = !isIn(blockedTypes) && (allowedTypes.length === 0 || isIn(allowedTypes))
      return verdict(passed, `Requests of the kind ${names[0]} are ${passed ? '' : 'not '}allowed.`, { currentRequestType: names[0] })
    },
  }),
})
