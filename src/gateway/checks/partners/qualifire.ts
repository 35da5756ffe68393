import { z } from 'zod'
import type { Check, Phase, Subject } from '../check.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { inItems } from '../../dialects/texts/walk.ts'
import { partner } from './partner.ts'
import { askedMessages, askedText, key } from './words.ts'

const mode = z.enum(['speed', 'balanced', 'quality']).default('balanced').meta({ description: 'What counts more: speed or quality.' })

const common = {
  since: '1.6.1',
  basis: 'documented',
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  service: () => 'https://api.qualifire.ai',
  sign: ({ apiKey }: { apiKey: string }) => ({ 'x-qualifire-api-key': apiKey }),
  answer: z.looseObject({
    status: z.enum(['success', 'failed']),
    score: z.number().nullish(),
    evaluationResults: z
      .array(
        z.looseObject({
          type: z.string().nullish(),
          results: z.array(z.looseObject({ name: z.string().nullish(), flagged: z.boolean().nullish() })).nullish(),
        }),
      )
      .nullish(),
  }),
} as const
type Answer = z.output<typeof common.answer>

const find = ({ status, score, evaluationResults }: Answer) => ({
  passed: status === 'success',
  data: {
    score: score ?? null,
    flagged: (evaluationResults ?? []).flatMap(({ results }) =>
      (results ?? []).flatMap(({ name, flagged }) => (flagged === true ? [name ?? ''] : [])),
    ),
  },
})

const path = '/api/v1/evaluation/evaluate'
const texts = (subject: Subject, text: string) =>
  subject.phase === 'input' ? { input: text } : { input: askedText(subject), output: text }

interface FlagCheck {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly phases: readonly Phase[]
  readonly flag: string
}

const flagged = ({ name, title, about, phases, flag }: FlagCheck): Check =>
  partner({
    ...common,
    id: `qualifire.${name}`,
    title: `Qualifire: ${title}`,
    about,
    phases,
    fields: {},
    call: ({ subject, text }) => ({ path, body: { ...texts(subject, text), [flag]: true } }),
    find,
  })

const withMode = ({ name, title, about, phases, flag }: FlagCheck): Check =>
  partner({
    ...common,
    id: `qualifire.${name}`,
    title: `Qualifire: ${title}`,
    about,
    phases,
    fields: { mode },
    call: ({ subject, text, parameters }) => ({
      path,
      body: { ...texts(subject, text), [`${flag}_check`]: true, [`${flag}_mode`]: parameters.mode },
    }),
    find,
  })

const toolsOf = ({ request: { json } }: Subject): readonly unknown[] =>
  inItems(isFields(json) ? json['tools'] : [], [], (tool) => (isFields(tool) && isFields(tool['function']) ? [tool['function']] : []))

/** The calls of tools in a message of an answer, their arguments as values. */
function toolCalls(message: unknown): readonly unknown[] {
  if (!isFields(message)) return []
  return inItems(message['tool_calls'], [], (call) => {
    if (!isFields(call) || !isFields(call['function'])) return []
    const { name, arguments: given } = call['function']
    return [{ id: call['id'], type: 'function', function: { name, arguments: valueOf(given) } }]
  })
}

function valueOf(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text
  } catch {
    return {}
  }
}

function answerMessages({ response }: Subject, text: string): readonly unknown[] {
  const choices = isFields(response?.json) ? response.json['choices'] : []
  const calls = inItems(choices, [], (choice) => (isFields(choice) ? toolCalls(choice['message']) : []))
  return [{ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }]
}

/** Evaluations of requests and answers. */
export const qualifire: readonly Check[] = [
  flagged({
    name: 'contentModeration',
    title: 'content moderation',
    about: 'Fails on dangerous, sexual, hateful or harassing content.',
    phases: ['input', 'output'],
    flag: 'content_moderation_check',
  }),
  withMode({
    name: 'hallucinations',
    title: 'hallucinations',
    about: 'Fails when the answer is made up.',
    phases: ['output'],
    flag: 'hallucinations',
  }),
  flagged({
    name: 'pii',
    title: 'personal data',
    about: 'Fails when personal data is in the texts.',
    phases: ['input', 'output'],
    flag: 'pii_check',
  }),
  flagged({
    name: 'promptInjections',
    title: 'prompt injection',
    about: 'Fails when the texts inject instructions.',
    phases: ['input'],
    flag: 'prompt_injections',
  }),
  withMode({
    name: 'grounding',
    title: 'grounding',
    about: 'Fails when the answer is not grounded in the given texts.',
    phases: ['output'],
    flag: 'grounding',
  }),
  partner({
    ...common,
    id: 'qualifire.toolUseQuality',
    title: 'Qualifire: use of tools',
    about: 'Fails when the model chose the wrong tool, or gave it wrong arguments.',
    phases: ['output'],
    fields: { mode },
    takes: 'all',
    call: ({ subject, text, parameters }) => ({
      path,
      body: {
        messages: [...askedMessages(subject), ...answerMessages(subject, text)],
        available_tools: toolsOf(subject),
        tool_use_quality_check: true,
        tuq_mode: parameters.mode,
      },
    }),
    find,
  }),
  partner({
    ...common,
    id: 'qualifire.policy',
    title: 'Qualifire: policies',
    about: 'Fails when the texts violate one of your policies.',
    fields: {
      policies: z.array(z.string().min(1).max(2000)).min(1).max(100).meta({ description: 'The policies, each a sentence.' }),
      mode,
      policy_target: z.enum(['input', 'output', 'both']).default('both').meta({ description: 'The subject of the policies.' }),
    },
    call: ({ subject, text, parameters: { policies, mode: chosen, policy_target: target } }) => ({
      path,
      body: {
        ...texts(subject, text),
        assertions: policies,
        assertions_mode: chosen,
        policy_target: subject.phase === 'input' ? 'input' : target,
      },
    }),
    find,
  }),
]
