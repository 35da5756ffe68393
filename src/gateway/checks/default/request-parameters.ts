import { z } from 'zod'
import { type Fields, isFields } from '../../../lib/fields.ts'
import { check, verdict } from '../check.ts'

const names = z.array(z.string().min(1).max(255)).max(1000).optional()
const values = z.array(z.unknown()).max(1000).optional()

/** Whether a value is refused. */
type Rule = (value: unknown) => boolean

const textsOf = (listed: readonly unknown[]): ReadonlySet<string | undefined> => new Set(listed.map((one) => JSON.stringify(one)))

/** Refuses what is blocked, and what is not among the allowed. */
function ruleOf(blocked: readonly unknown[] = [], allowed?: readonly unknown[]): Rule {
  if (blocked.length === 0 && allowed === undefined) return () => false
  const [no, yes] = [textsOf(blocked), allowed === undefined ? null : textsOf(allowed)]
  return (value) => {
    const text = JSON.stringify(value)
    return no.has(text) || (yes !== null && !yes.has(text))
  }
}

/** So many are named: a request of a million tools must not get an answer of as many faults. */
const maxNamed = 20

/** What of a kind is refused, each once. */
const refused = (found: readonly (string | null)[], isRefused: Rule, kind: string): readonly string[] =>
  Array.from(new Set(found))
    .filter((name) => name !== null && isRefused(name))
    .slice(0, maxNamed)
    .map((name) => `${kind} ${name}`)

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
  ready({ tools, params }) {
    const [types, functions] = [
      ruleOf(tools.blockedTypes, tools.allowedTypes),
      ruleOf(tools.blockedFunctionNames, tools.allowedFunctionNames),
    ]
    const keys = ruleOf(params.blockedKeys, params.allowedKeys)
    const byName = Object.entries(params.values ?? {}).map(
      ([name, { blockedValues, allowedValues }]) => [name, ruleOf(blockedValues, allowedValues)] as const,
    )
    return {
      judgesPrefix: false,
      run({ request: { json } }) {
        const body = isFields(json) ? json : {}
        const found = toolsOf(body)
        const failures = [
          ...refused(
            found.map(({ type }) => type),
            types,
            'tool type',
          ),
          ...refused(
            found.map(({ name }) => name),
            functions,
            'function',
          ),
          ...refused(Object.keys(body), keys, 'parameter'),
          ...byName.flatMap(([name, isRefused]) => (Object.hasOwn(body, name) && isRefused(body[name]) ? [`the value of ${name}`] : [])),
        ]
        const explanation = failures.length === 0 ? 'All parameters are allowed.' : `Not allowed: ${failures.join(', ')}.`
        return verdict(failures.length === 0, explanation, { failures })
      },
    }
  },
})
