import { z } from 'zod'
import type { Check } from '../check.ts'
import { partner } from './partner.ts'
import { askedText, key, redact, withoutSpans } from './words.ts'

const span = z.tuple([z.int().min(0), z.int().min(0)])
const answer = z.looseObject({
  results: z
    .array(
      z.looseObject({
        error_message: z.string().nullish(),
        evaluation_result: z
          .looseObject({
            pass: z.boolean(),
            score_raw: z.number().nullish(),
            additional_info: z.looseObject({ positions: z.unknown() }).nullish(),
          })
          .nullish(),
      }),
    )
    .min(1),
})

interface Evaluation {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly evaluator: string
  readonly criteria?: string
  readonly timeoutMs?: number
}

/** Returns the places of the findings; none unless the service returns them as pairs. */
function spansIn(result: {
  readonly additional_info?: { readonly positions: unknown } | null | undefined
}): readonly (readonly [number, number])[] {
  const parsed = z.array(span).safeParse(result.additional_info?.positions)
  return parsed.success ? parsed.data : []
}

function resultOf({ results }: z.output<typeof answer>) {
  const [first] = results
  if (first?.evaluation_result) return first.evaluation_result
  throw new Error('Patronus AI could not evaluate the answer.')
}

const common = {
  basis: 'observed',
  phases: ['output'],
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  service: () => 'https://api.patronus.ai',
  sign: ({ apiKey }: { apiKey: string }) => ({ 'x-api-key': apiKey }),
  answer,
} as const

const bodyOf = (evaluator: string, criteria: string | undefined, { text, input }: { text: string; input: string }) => ({
  evaluators: [{ evaluator, explain_strategy: 'never', ...(criteria !== undefined && { criteria }) }],
  evaluated_model_input: input,
  evaluated_model_output: text,
})

const path = '/v1/evaluate'

const judged = ({ name, title, about, evaluator, criteria, timeoutMs = 5000 }: Evaluation): Check =>
  partner({
    ...common,
    id: `patronus.${name}`,
    title: `Patronus AI: ${title}`,
    about,
    timeoutMs,
    fields: {},
    call: ({ text, subject }) => ({ path, body: bodyOf(evaluator, criteria, { text, input: askedText(subject) }) }),
    find(given) {
      const { pass, score_raw: score } = resultOf(given)
      return { passed: pass, data: { evaluator, score: score ?? null } }
    },
  })

const detecting = ({ name, title, about, evaluator }: Evaluation): Check =>
  partner({
    ...common,
    id: `patronus.${name}`,
    title: `Patronus AI: ${title}`,
    about,
    fields: { redact },
    changes: (parameters) => parameters.redact,
    call: ({ text, subject }) => ({ path, body: bodyOf(evaluator, undefined, { text, input: askedText(subject) }) }),
    find(given, { parameters, text }) {
      const result = resultOf(given)
      const spans = spansIn(result)
      const taken = !result.pass && parameters.redact && spans.length > 0
      return { passed: result.pass || taken, data: { evaluator, found: spans.length }, ...(taken && { text: withoutSpans(text, spans) }) }
    },
  })

const judge = (name: string, title: string, about: string): Evaluation => ({
  name,
  title,
  about,
  evaluator: 'judge',
  criteria: `patronus:${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  timeoutMs: 15_000,
})

/** Evaluations of answers. */
export const patronus: readonly Check[] = [
  detecting({ name: 'phi', title: 'health data', about: 'Fails when health data is in the answer, or takes it out.', evaluator: 'phi' }),
  detecting({
    name: 'pii',
    title: 'personal data',
    about: 'Fails when personal data is in the answer, or takes it out.',
    evaluator: 'pii',
  }),
  judged(judge('isConcise', 'concise', 'Passes when the answer is concise.')),
  judged(judge('isHelpful', 'helpful', 'Passes when the answer is helpful.')),
  judged(judge('isPolite', 'polite', 'Passes when the answer is polite.')),
  judged(judge('noApologies', 'no apologies', 'Passes when the answer does not apologise.')),
  judged(judge('noGenderBias', 'no gender bias', 'Passes when the answer has no gender bias.')),
  judged(judge('noRacialBias', 'no racial bias', 'Passes when the answer has no racial bias.')),
  judged({
    name: 'retrievalAnswerRelevance',
    title: 'answer relevance',
    about: 'Passes when the answer is relevant to the question.',
    evaluator: 'retrieval-answer-relevance',
    timeoutMs: 15_000,
  }),
  judged({
    name: 'retrievalHallucination',
    title: 'hallucination',
    about: 'Passes when the answer is not made up.',
    evaluator: 'hallucination',
    criteria: 'patronus:hallucination',
    timeoutMs: 15_000,
  }),
  judged({ name: 'toxicity', title: 'toxicity', about: 'Passes when the answer is not toxic.', evaluator: 'toxicity' }),
  partner({
    ...common,
    id: 'patronus.custom',
    title: 'Patronus AI: your own criteria',
    about: 'Passes when the answer meets criteria of your own.',
    timeoutMs: 15_000,
    fields: { profile: z.string().min(1).max(255).meta({ description: 'The criteria, such as `my-criteria`.' }) },
    call: ({ text, subject, parameters }) => ({ path, body: bodyOf('judge', parameters.profile, { text, input: askedText(subject) }) }),
    find(given) {
      const { pass, score_raw: score } = resultOf(given)
      return { passed: pass, data: { evaluator: 'judge', score: score ?? null } }
    },
  }),
]
