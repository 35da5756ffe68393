import { z } from 'zod'
import { isFields } from '../../lib/json/fields.ts'
import type { JsonPath } from '../../lib/json/json-path.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { schemaFaults } from '../../lib/json/schema-faults.ts'
import { containingSecrets } from '../../lib/json/secret-fields.ts'
import { textField } from '../../lib/text/text.ts'
import type { Phase } from './check.ts'
import { parameterSecrets } from './parameter-secrets.ts'
import { findCheck } from './registry.ts'

/** The score for the request that a success or a failure is worth. */
const feedback = z.strictObject({
  feedback: z.strictObject({
    value: z.number().min(-10).max(10).optional(),
    weight: z.number().min(0).max(1).optional(),
    metadata: z.union([z.string().max(2000), z.record(z.string(), z.unknown())]).optional(),
  }),
})

const message = textField(2000)

const options = {
  deny: z.boolean().optional().meta({ description: 'Whether a failure ends the request with 446; else its answer gets the status 246.' }),
  async: z
    .boolean()
    .optional()
    .meta({ description: 'True runs the checks without delaying the request; then they neither deny nor change anything.' }),
  sequential: z.boolean().optional().meta({ description: 'Whether the checks run one after the other.' }),
  on_success: feedback.optional(),
  on_fail: feedback.optional(),
  message: message.optional().meta({ description: 'The message of the error that the caller of a denied request gets.' }),
}

const word = z.enum(['block', 'log', 'warn']).meta({
  description:
    'The action as one word. `block`: the request fails with 446. `warn`: the answer has the status 246. `log`: the checks run without delaying the request.',
})

function demandOneShape(given: Readonly<Record<string, unknown>>, context: z.core.$RefinementCtx): void {
  const named = Object.keys(given).filter((name) => given[name] !== undefined && given[name] !== null)
  const other = named.find((name) => name !== 'onFail' && name !== 'message')
  if (named.includes('onFail') && other !== undefined)
    context.addIssue({ code: 'custom', path: [other], message: 'It goes without onFail, which says it all.' })
}

/** The consequences of a failure, in either of two shapes: one word, or its parts. */
export const guardrailActions = z
  .strictObject({
    onFail: word.optional(),
    ...options,
  })
  .superRefine(demandOneShape)

/** Returns whether actions are complete, in one of the two shapes. */
const saysActions = (given: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(given).some(([name, value]) => name !== 'message' && value !== undefined && value !== null)

const actionsMissing = 'Set the actions: `onFail` (block, warn or log), or `deny`, `async` and the fields that go with them.'

/** The actions of a new guardrail, which must be complete. */
export const newGuardrailActions = guardrailActions
  .superRefine((given, context) => {
    if (!saysActions(given)) context.addIssue({ code: 'custom', path: ['onFail'], message: actionsMissing })
  })
  .meta({
    id: 'GuardrailActions',
    description: 'The actions when a check fails or passes: `onFail` with a message, or at least one of the other fields.',
  })

/** The actions as a PUT changes them. */
export const guardrailActionChanges = z
  .strictObject({
    onFail: word.nullable().optional(),
    deny: options.deny.nullable(),
    async: options.async.nullable(),
    sequential: options.sequential.nullable(),
    on_success: options.on_success.nullable(),
    on_fail: options.on_fail.nullable(),
    message: options.message.nullable(),
  })
  .superRefine(demandOneShape)
  .meta({
    id: 'GuardrailActionChanges',
    description: 'Absent fields stay as they are, null clears a field. `onFail` replaces the other fields, and they replace `onFail`.',
  })

type GuardrailActions = z.output<typeof guardrailActions>

/** The meaning of each word of `onFail`. */
const wordParts = { block: { deny: true }, warn: {}, log: { async: true } } as const

/** The actions without the word that stands for some of them. */
export const spelledOut = ({ onFail, ...parts }: GuardrailActions): Omit<GuardrailActions, 'onFail'> =>
  onFail === undefined ? parts : { ...wordParts[onFail], ...parts }

const parameters = z.record(z.string(), z.unknown())

const secretPaths = (id: string, given: unknown, path: JsonPath): readonly JsonPath[] =>
  parameterSecrets(id, given, path).map((place) => place.path)

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Returns the faults of a check's parameters. */
function parameterIssues(id: string, given: unknown, path: readonly PropertyKey[]): readonly Issue[] {
  const check = findCheck(id)
  if (check === null) return [{ path: path.slice(0, -1), message: `There is no check ${JSON.stringify(id.slice(0, 100))}.` }]
  const { error } = parseGiven(check.parameters, given ?? {})
  if (error === undefined) return []
  return schemaFaults(error, { value: given, whole: '' }).map((fault) => ({
    path: [...path, ...fault.path],
    message: fault.code === 'unknown_field' ? `The check ${check.id} has no such parameter.` : fault.message,
  }))
}

/** One check of a guardrail, its parameters checked by its own schema. */
export const checkEntry = containingSecrets(
  z.strictObject({
    id: z.string().min(1).max(100).meta({ description: 'Which check; the guide lists them all with their parameters.' }),
    parameters: parameters.optional(),
    name: z.string().max(255).optional(),
    is_enabled: z.boolean().optional(),
  }),
  (entry) => (isFields(entry) ? secretPaths(String(entry['id']), entry['parameters'], ['parameters']) : []),
)
  .superRefine(({ id, parameters: given }, context) => {
    for (const { path, message: text } of parameterIssues(id, given, ['parameters']))
      context.addIssue({ code: 'custom', path: path.length === 0 ? ['id'] : [...path], message: text })
  })
  .meta({ id: 'GuardrailCheck', description: 'A check with its parameters.' })

export type CheckEntry = z.output<typeof checkEntry>

/** The checks of a guardrail. */
const mostChecks = 50
export const checkList = z.array(checkEntry).min(1).max(mostChecks)

const guardrailType = z.enum(['guardrail', 'mutator']).optional()

const optionNames = new Set([...Object.keys(options), 'id', 'name', 'type', 'checks', 'is_enabled'])

/** A guardrail that stands in a config: checks by their ids, and the actions on their verdicts. */
export const inlineGuardrail = containingSecrets(
  z.looseObject({
    ...options,
    id: z.string().min(1).max(255).optional(),
    name: z.string().max(255).optional(),
    type: guardrailType,
    is_enabled: z.boolean().optional(),
    checks: checkList.optional(),
  }),
  (given) => (isFields(given) ? Object.keys(given).flatMap((id) => secretPaths(id, given[id], [id])) : []),
).superRefine((given, context) => {
  const ids = Object.keys(given).filter((name) => !optionNames.has(name))
  if (ids.length > mostChecks) return context.addIssue({ code: 'custom', path: [], message: `At most ${mostChecks} checks are allowed.` })
  if (ids.length === 0 && given.checks === undefined) context.addIssue({ code: 'custom', path: [], message: 'The guardrail has no check.' })
  for (const id of ids)
    for (const { path, message: text } of parameterIssues(id, given[id], [id]))
      context.addIssue({ code: 'custom', path: path.length === 0 ? [id] : [...path], message: text })
})

export type InlineGuardrail = z.output<typeof inlineGuardrail>

/** A hook of a config, as older configs write guardrails. */
export const hook = z.strictObject({
  ...options,
  id: z.string().min(1).max(255).optional(),
  name: z.string().max(255).optional(),
  type: guardrailType,
  checks: checkList,
})

/** The checks of an inline guardrail or a hook, in one shape; all are switched off with it. */
export const checksOf = (given: InlineGuardrail): readonly CheckEntry[] =>
  given.is_enabled === false
    ? entriesOf(given).map(({ id, parameters: held }) => ({ id, parameters: held, is_enabled: false }))
    : entriesOf(given)

const entriesOf = (given: InlineGuardrail): readonly CheckEntry[] => [
  ...(given.checks ?? []),
  ...Object.entries(given)
    .filter(([name]) => !optionNames.has(name))
    .map(([id, held]) => ({ id, parameters: parameters.catch({}).parse(held) })),
]

/** The phases in which at least one of the checks looks at something; one that is switched off counts, since it may be on again. */
export const phasesOf = (checks: readonly Pick<CheckEntry, 'id'>[]): ReadonlySet<Phase> =>
  new Set(checks.flatMap(({ id }) => findCheck(id)?.phases ?? []))

/** Why a guardrail would have no effect in a phase. */
export const idleIn: Readonly<Record<Phase, string>> = {
  input: 'None of its checks looks at requests, so that it would never run before the call.',
  output: 'None of its checks looks at answers, so that it would never run after the call.',
}
