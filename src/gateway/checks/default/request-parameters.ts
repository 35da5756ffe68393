import { z } from 'zod'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { check, verdict } from '../check.ts'

const names = z.array(z.string().min(1).max(255)).max(1000).optional()
const values = z.array(z.unknown()).max(1000).optional()

const valueRule = z
  .strictObject({ blockedValues: values, allowedValues: values })
  .refine(({ blockedValues, allowedValues }) => (blockedValues ?? allowedValues) !== undefined, 'Give blockedValues or allowedValues.')

/** Returns whether a value is refused. */
type Rule = (value: unknown) => boolean

type Spelling = (value: unknown) => string | undefined

/** Refuses blocked values, and those that are not among the allowed. */
function ruleOf(blocked: readonly unknown[] = [], allowed?: readonly unknown[], spelled: Spelling = JSON.stringify): Rule {
  if (blocked.length === 0 && allowed === undefined) return () => false
  const [no, yes] = [blocked, allowed].map((listed) => listed && new Set(listed.map((one) => spelled(one))))
  return (value) => {
    const text = spelled(value)
    return no?.has(text) === true || yes?.has(text) === false
  }
}

/** So many are named: a request of a million tools must not get an answer of as many faults. */
const maxNamed = 20

/** Returns the refused values of a kind, each once. */
const refused = (found: readonly string[], isRefused: Rule, kind: string): readonly string[] =>
  Array.from(new Set(found))
    .filter((name) => isRefused(name))
    .slice(0, maxNamed)
    .map((name) => `${kind} ${name}`)

interface Tool {
  readonly types: readonly string[]
  readonly names: readonly string[]
}

/** The tools of a body, in the words of any of the APIs. */
function toolsOf(json: Fields): readonly Tool[] {
  const { tools, functions, toolConfig, tool_config: config } = json
  const lists = [tools, ...[toolConfig, config].map((held) => (isFields(held) ? held['tools'] : undefined))]
  return [
    ...lists.flatMap((list) => toolsIn(list).map(toolOf)),
    ...toolsIn(functions).map((tool): Tool => ({ types: ['function'], names: toolOf(tool).names })),
  ]
}

const toolsIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : isFields(value) ? [value] : [])

/** A tool states its type, or is named by it (`googleSearch: {}`). A function stands in the tool itself, in a field of it, or in a list. */
function toolOf(tool: Fields): Tool {
  const { type, name } = tool
  const held = Object.entries(tool).filter(([key, value]) => typeof value === 'object' && value !== null && !described.has(key))
  const named = [name, ...held.flatMap(([, value]) => toolsIn(value).map((inner) => inner['name']))]
  const types = typeof type === 'string' ? [type] : typeof name === 'string' ? ['function'] : held.map(([key]) => typeNames.get(key) ?? key)
  return { types: types.length === 0 ? ['function'] : types, names: named.filter((one) => typeof one === 'string') }
}

/** The fields that describe a tool, and hold none. */
const described: ReadonlySet<string> = new Set([
  'parameters',
  'input_schema',
  'input_examples',
  'cache_control',
  'cachePoint',
  'user_location',
])

/** Fields that hold functions, under the one name that all functions have. */
const typeNames: ReadonlyMap<string, string> = new Map(
  ['functionDeclarations', 'function_declarations', 'toolSpec'].map((key) => [key, 'function'] as const),
)

/** `googleSearch` and `google_search` are one. */
const typeText = (value: unknown): string | undefined =>
  JSON.stringify(typeof value === 'string' ? value.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : value)

/** Checks which parameters, values and tools a request may have. */
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
        values: z.record(z.string(), valueRule).optional(),
      })
      .default({})
      .meta({ description: 'Parameters that are blocked, or the only ones allowed, and by parameter the values that are.' }),
  },
  ready({ tools, params }) {
    const [types, functions] = [
      ruleOf(tools.blockedTypes, tools.allowedTypes, typeText),
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
            found.flatMap((tool) => tool.types),
            types,
            'tool type',
          ),
          ...refused(
            found.flatMap((tool) => tool.names),
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
