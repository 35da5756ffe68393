import { z } from 'zod'
import { check, verdict } from '../check.ts'

const names = z.array(z.string().min(1).max(255)).max(1000).optional()
const values = z.array(z.unknown()).max(1000).optional()

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

interface Lists {
  readonly blocked?: readonly unknown[] | undefined
  readonly allowed?: readonly unknown[] | undefined
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** The found ones that are blocked, or not among the allowed. */
const refused = (found: readonly unknown[], { blocked = [], allowed }: Lists): readonly unknown[] =>
  found.filter((one) => blocked.some((other) => same(one, other)) || (allowed !== undefined && !allowed.some((other) => same(one, other))))

/** The tools of a body, in the words of the OpenAI and of the Anthropic APIs: an Anthropic tool without a type is a function. */
function toolsOf(json: Fields): readonly { readonly type: string; readonly name: string | null }[] {
  const tools = Array.isArray(json['tools']) ? json['tools'].filter(isFields) : []
  const functions = Array.isArray(json['functions']) ? json['functions'].filter(isFields) : []
  return [
    ...tools.map((tool) => {
      const { type, name, function: inner } = tool
      const named = isFields(inner) ? inner['name'] : name
      return { type: typeof type === 'string' ? type : 'function', name: typeof named === 'string' ? named : null }
    }),
    ...functions.map(({ name }) => ({ type: 'function', name: typeof name === 'string' ? name : null })),
  ]
}

/** Which parameters, values and tools a request may have. */
export const requestParametersCheck = check({
  id: 'default.requestParametersCheck',
  title: 'Request parameters',
  about: 'Passes when the tools, the parameters and their values are allowed, and none of them is blocked.',
  since: '1.6.1',
  phases: ['input'],
  reads: 'request',
  fields: {
    tools: z
      .strictObject({ blockedTypes: names, allowedTypes: names, blockedFunctionNames: names, allowedFunctionNames: names })
      .default({})
      .meta({ description: 'Types of tools and names of functions that are blocked, or the only ones allowed.' }),
    params: z
      .strictObject({
        blockedKeys: names,
        allowedKeys: names,
        values: z.record(z.string(), z.strictObject({ blockedValues: values, allowedValues: values })).optional(),
      })
      .default({})
      .meta({ description: 'Parameters that are blocked, or the only ones allowed, and by parameter the values that are.' }),
  },
  ready: ({ tools, params }) => ({
    judgesPrefix: false,
    run({ request: { json } }) {
      const body = isFields(json) ? json : {}
      const found = toolsOf(body)
      const failures = [
        ...refused(
          found.map(({ type }) => type),
          { blocked: tools.blockedTypes, allowed: tools.allowedTypes },
        ).map((type) => `tool type ${String(type)}`),
        ...refused(
          found.flatMap(({ name }) => (name === null ? [] : [name])),
          { blocked: tools.blockedFunctionNames, allowed: tools.allowedFunctionNames },
        ).map((name) => `function ${String(name)}`),
        ...refused(Object.keys(body), { blocked: params.blockedKeys, allowed: params.allowedKeys }).map(
          (name) => `parameter ${String(name)}`,
        ),
        ...Object.entries(params.values ?? {}).flatMap(([name, { blockedValues, allowedValues }]) =>
          Object.hasOwn(body, name) && refused([body[name]], { blocked: blockedValues, allowed: allowedValues }).length > 0
            ? [`the value of ${name}`]
            : [],
        ),
      ]
      const explanation = failures.length === 0 ? 'All parameters are allowed.' : `Not allowed: ${failures.join(', ')}.`
      return verdict(failures.length === 0, explanation, { failures })
    },
  }),
})
