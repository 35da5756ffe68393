import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { saidFields, saidList, textIn, unreadable } from '../reading.ts'
import type { TaskContext, TaskTranslation, WrittenAnswer } from '../tasks/task.ts'

/** Clients ask as OpenAI is asked. */
export const moderationClients: Readonly<Record<string, true>> = { moderations: true }

/** docs.mistral.ai/capabilities/guardrailing: OpenAI's format, but texts alone, other categories, and no verdict. */
export const moderationProviders: Readonly<Record<string, true>> = { 'moderations/mistral': true }

const known = new Set(['model', 'input'])
const usualModel = 'mistral-moderation-latest'

/** Translates a request to judge texts. Throws `invalid_request`. */
export function translateModeration(
  { to, body }: { readonly to: string; readonly body: Fields },
  { loss }: TaskContext,
): TaskTranslation | null {
  if (!Object.hasOwn(moderationProviders, to)) return null
  const model = textIn(body, 'model')
  if (model === null) loss.note(`model=${usualModel}`)
  for (const name of Object.keys(unread(body, known))) loss.dropAt(name)
  return {
    bodies: [{ json: { model: model ?? usualModel, input: textsIn(body['input']) } }],
    loss,
    write: ([answer]) => write(answer?.json),
  }
}

/** Returns the texts that are judged one by one; the parts of one input are one text. */
function textsIn(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input) || input.length === 0) throw unreadable('input', 'a string or a list of strings')
  const list: readonly unknown[] = input
  if (list.every((one) => typeof one === 'string')) return list
  return [list.map((part, at) => textOfPart(part, `input[${at}]`)).join('\n')]
}

function textOfPart(part: unknown, at: string): string {
  if (isFields(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text']
  throw unreadable(at, 'a text, for this provider')
}

/** Mistral's words for categories that OpenAI has a word for; all others stay. */
const categories: Readonly<Record<string, string>> = {
  hate_and_discrimination: 'hate',
  violence_and_threats: 'violence',
  selfharm: 'self-harm',
  dangerous_and_criminal_content: 'illicit',
}

const renamed = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [Object.hasOwn(categories, name) ? categories[name] : name, value]))

/** Returns the answer with OpenAI's words, and with its verdict: one of the categories holds. */
function write(json: unknown): WrittenAnswer | null {
  if (!isFields(json) || !Array.isArray(json['results'])) return null
  const results = saidList(json, 'results').map((result) => {
    const found = saidFields(result, 'categories') ?? {}
    return {
      flagged: Object.values(found).includes(true),
      categories: renamed(found),
      category_scores: renamed(saidFields(result, 'category_scores') ?? {}),
    }
  })
  return { body: { json: { ...json, results } }, usage: null }
}
