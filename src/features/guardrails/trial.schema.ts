import { z } from 'zod'
import { guardrailActions, scopes } from '../../gateway/ports/checks.ts'
import { logSelection } from '../logs/index.ts'
import { checks } from './guardrail.schema.ts'

const json = z.record(z.string(), z.unknown())

const howMany = (...values: readonly unknown[]): number => values.filter((value) => value !== undefined).length

export const tryGuardrailBody = z
  .strictObject({
    guardrail: z.string().min(1).max(255).optional().meta({ description: 'The id or slug of a stored guardrail.' }),
    checks: checks.optional().meta({ description: 'Or checks that are stored nowhere.' }),
    actions: guardrailActions.optional().meta({ description: 'The actions on the given checks.' }),
    workspace_id: z.string().min(1).max(255).optional(),
    phase: z.enum(['input', 'output']).default('input').meta({ description: 'Before the call on the request, or after it on the answer.' }),
    text: z
      .string()
      .max(1_000_000)
      .optional()
      .meta({ description: 'The message of a user, or with `output` of a model: a chat of one message.' }),
    path: z
      .string()
      .regex(/^\/[\w./:@-]{1,500}$/)
      .default('/chat/completions')
      .meta({ description: 'The endpoint below `/v1` that is called.' }),
    request: json.optional().meta({ description: 'Or the body of a request.' }),
    response: json.optional().meta({ description: 'Or, with `output`, the body of an answer.' }),
    logs: logSelection.optional().meta({
      description: 'The latest logs instead, as far as the caller may read their bodies (scope `logs.view`); `{}`: the last 100.',
    }),
    metadata: z.record(z.string(), z.string()).default({}).meta({ description: 'The metadata of the request.' }),
  })
  .refine(({ guardrail, checks: given }) => (guardrail === undefined) !== (given === undefined), {
    path: ['guardrail'],
    message: 'Give a stored guardrail or checks, one of the two.',
  })
  .refine(({ phase, text, request, response, logs }) => howMany(text, phase === 'input' ? request : response, logs) === 1, {
    path: ['text'],
    message: 'Give a text, or the body of the phase (`request` with `input`, `response` with `output`), or logs: one of them.',
  })
  .meta({ id: 'TryGuardrail', description: 'A guardrail, and the input of its trial.' })

export type TryGuardrail = z.output<typeof tryGuardrailBody>

export const trialView = z
  .object({
    object: z.literal('guardrail_test'),
    phase: z.enum(['input', 'output']),
    verdict: z.boolean().meta({ description: 'Whether every check passed.' }),
    denied: z.boolean().meta({ description: 'Whether the caller would be refused.' }),
    transformed: z.boolean(),
    body: z.unknown().meta({ description: 'The body that would go on, with the changes of checks.' }),
    checks: z.array(
      z.object({
        id: z.string(),
        verdict: z.boolean(),
        data: z.record(z.string(), z.unknown()).nullable(),
        error: z
          .object({ name: z.string(), message: z.string() })
          .optional()
          .meta({ description: 'The reason why the check could not decide.' }),
        execution_time: z.number().meta({ description: 'Milliseconds.' }),
        transformed: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'GuardrailTest', description: 'The result of a guardrail for a sample; it is not stored.' })

const verdictOfLog = z.object({
  log_id: z.uuid(),
  created_at: z.iso.datetime(),
  model: z.string().nullable(),
  skipped: z
    .enum(['no_body', 'truncated', 'unreadable', 'time'])
    .nullable()
    .meta({ description: 'Why it was not judged; `time`: the logs before it took all the time there is.' }),
  verdict: z.boolean().nullable().meta({ description: 'Whether every check passed; null: it was not judged.' }),
  denied: z.boolean(),
  transformed: z.boolean(),
  checks: z.array(
    z.object({ id: z.string(), verdict: z.boolean(), error: z.object({ name: z.string(), message: z.string() }).optional() }),
  ),
})

export const logTrialView = z
  .object({
    object: z.literal('guardrail_log_test'),
    phase: z.enum(['input', 'output']),
    logs: z.int().meta({ description: 'How many logs were found.' }),
    judged: z.int(),
    failed: z.int().meta({ description: 'The number of logs with which a check would have failed.' }),
    denied: z.int().meta({ description: 'How many callers would have been refused.' }),
    transformed: z.int().meta({ description: 'How many bodies would have been changed.' }),
    results: z.array(verdictOfLog).meta({ description: 'The latest first.' }),
  })
  .meta({ id: 'GuardrailLogTest', description: 'The results of a guardrail for the latest requests; they are not stored.' })

export const checkFilter = z.object({ id: z.string().max(255).optional().meta({ description: 'Only this check.' }) })

export const checkCatalogue = z
  .object({
    object: z.literal('check_catalogue'),
    data: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        description: z.string(),
        since: z.string().meta({ description: 'The release that brought it.' }),
        phases: z.array(z.enum(['input', 'output'])),
        reads: z.enum(['text', 'request']),
        scopes: z.array(z.enum(scopes)),
        changes: z.boolean().meta({ description: 'Whether it may change its input.' }),
        calls_out: z.boolean().meta({ description: 'Whether it sends its input to another service.' }),
        timeout: z.int().nullable().meta({ description: 'The default limit of such a call in milliseconds.' }),
        plugin: z.string().nullable().meta({ description: 'The partner whose credentials may be stored with `POST /plugins`.' }),
        secrets: z.array(z.string()).meta({ description: 'Parameters that hold secrets.' }),
        parameters: z.record(z.string(), z.unknown()).meta({ description: 'The JSON Schema (2020-12) of its parameters.' }),
        format: z.enum(['documented', 'observed']).nullable().meta({ description: "Where the format of a partner's calls is known from." }),
        object: z.literal('check'),
      }),
    ),
  })
  .meta({ id: 'CheckCatalogue', description: 'The checks that guardrails may have at this level.' })
