import { z } from 'zod'
import type { TextPart } from '../../dialects/neutral/texts.ts'
import { type BodyEdit, check, type RequestFacts, type Verdict } from '../check.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { accountFields, accountRule, findAccount } from './account.ts'
import { postPartner } from './partner.ts'
import { key } from './words.ts'
import { withoutEnd } from '../../../lib/text/without-end.ts'

const account = { plugin: 'exa', schema: z.strictObject({ apiKey: key }), secrets: ['apiKey'], urls: [] } as const

const domains = z.array(z.string().min(1).max(253)).max(100).default([])
const answer = z.looseObject({
  results: z.array(
    z.looseObject({ title: z.string().nullish(), url: z.string(), text: z.string().nullish(), publishedDate: z.string().nullish() }),
  ),
})
type Result = z.output<typeof answer>['results'][number]

const lineOf = ({ title, url, text, publishedDate }: Result, at: number): string =>
  `[${at + 1}] "${title ?? ''}"\nURL: ${url}\n${publishedDate ? `Date: ${publishedDate}\n` : ''}${text ?? ''}\n`

/** Puts the search results behind the instructions, or makes some of them. */
function withContext({ json, operation }: RequestFacts, context: string): readonly BodyEdit[] {
  if (!isFields(json)) return []
  if (operation === 'complete') return typeof json['prompt'] === 'string' ? [{ path: ['prompt'], value: context + json['prompt'] }] : []
  const { messages } = json
  if (!Array.isArray(messages)) return []
  const at = messages.findIndex(
    (message: unknown) => isFields(message) && message['role'] === 'system' && typeof message['content'] === 'string',
  )
  const system: unknown = messages[at]
  if (isFields(system)) return [{ path: ['messages', at, 'content'], value: `${String(system['content'])}${context}` }]
  return [{ path: ['messages'], value: [{ role: 'system', content: context }, ...messages] }]
}

const lastSaid = (parts: readonly TextPart[]): string => parts.findLast(({ role }) => role === 'user')?.text ?? parts.at(-1)?.text ?? ''

/** Looks the question up on the web. */
export const exaOnline = check({
  id: 'exa.online',
  title: 'Exa web search',
  about:
    'Searches the web for the last message of the user, and adds the results to the instructions of a chat or the prompt of a completion.',
  phases: ['input'],
  timeoutMs: 10_000,
  changes: true,
  secrets: ['credentials.apiKey'],
  urls: ['baseUrl'],
  basis: 'documented',
  fields: {
    prefix: z.string().max(1000).default('\n<web_search_context>').meta({ description: 'The text before the results.' }),
    suffix: z.string().max(1000).default('\n</web_search_context>').meta({ description: 'What stands behind them.' }),
    numResults: z.int().min(1).max(100).default(5).meta({ description: 'How many results are asked for.' }),
    includeDomains: domains.meta({ description: 'Only results from these.' }),
    excludeDomains: domains.meta({ description: 'No results from these.' }),
    ...accountFields(account.schema),
  },
  rule: accountRule,
  account,
  ready: ({ prefix, suffix, numResults, includeDomains, excludeDomains, credentials: own, baseUrl }) => ({
    judgesPrefix: false,
    async run({ parts, request }, context): Promise<Verdict> {
      const query = lastSaid(parts).trim().slice(0, 2000)
      if (query === '' || !['chatComplete', 'complete'].includes(request.operation))
        return { passed: true, data: { explanation: 'There is nothing to look up.' } }
      const { credentials, address } =
        own === undefined ? await findAccount({ title: 'Exa', ...account }, context) : { credentials: own, address: baseUrl ?? null }
      const { results } = await postPartner({
        title: 'Exa',
        url: `${withoutEnd(address ?? 'https://api.exa.ai', '/')}/search`,
        named: address === null ? 'by catalogue' : 'by data',
        headers: { 'x-api-key': credentials.apiKey },
        body: JSON.stringify({
          query,
          numResults,
          contents: { text: true },
          ...(includeDomains.length > 0 && { includeDomains }),
          ...(excludeDomains.length > 0 && { excludeDomains }),
        }),
        answer,
        context,
      })
      const sources = results.map(({ title, url }) => ({ title: title ?? null, url }))
      const found = `${prefix}\n${results.map(lineOf).join('')}${suffix}`
      const edits = results.length === 0 ? [] : withContext(request, found)
      return { passed: true, data: { explanation: `${results.length} pages were found.`, sources }, edits }
    },
  }),
})
