// The text of the filter bar, and the query of the API that it means: `status:5xx -model:gpt-4o cost:>0.1 metadata.team:search "exact words"`.

/** A part of the text. */
export interface Term {
  readonly text: string
  /** Null: words to be searched for. */
  readonly field: string | null
  readonly value: string
  readonly negated: boolean
}

export interface Filter {
  /** For `GET /logs` and `GET /events`. */
  readonly query: Readonly<Record<string, string>>
  readonly terms: readonly Term[]
  /** The terms that have no effect, each with the reason. */
  readonly faults: readonly { readonly text: string; readonly reason: string }[]
}

/** Fields with values of their own: the parameter of the API, which takes `_not` too unless `only`. */
export const listed: Readonly<Record<string, { readonly parameter: string; readonly only?: true }>> = {
  status: { parameter: 'status_code' },
  model: { parameter: 'ai_model' },
  provider: { parameter: 'ai_org' },
  handle: { parameter: 'virtual_keys' },
  config: { parameter: 'configs' },
  key: { parameter: 'api_key_ids' },
  person: { parameter: 'user_id' },
  prompt: { parameter: 'prompt_slug' },
  operation: { parameter: 'operation' },
  outcome: { parameter: 'outcome' },
  error: { parameter: 'error_code' },
  cache: { parameter: 'cache_status' },
  guardrail: { parameter: 'guardrail', only: true },
  trace: { parameter: 'trace_id', only: true },
  span: { parameter: 'span_id', only: true },
}

/** Numbers with bounds: the parameters' first words, and the factor from the unit of the bar to that of the API. */
export const ranged: Readonly<Record<string, { readonly parameter: string; readonly factor: number }>> = {
  cost: { parameter: 'cost', factor: 100 },
  ms: { parameter: 'response_time', factor: 1 },
  tokens: { parameter: 'total_units', factor: 1 },
}

export const switches: Readonly<Record<string, string>> = { success: 'is_success', stream: 'stream' }

/** The fields of the filter bar, for its help. */
export const fieldNames: readonly string[] = [...Object.keys(listed), ...Object.keys(ranged), ...Object.keys(switches), 'metadata.<key>']

const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)
/** The API takes at most 50 statuses, so that a class means those that are in use. */
export const classes: Readonly<Record<string, readonly number[]>> = {
  '2xx': [...numbers(200, 208), 226, 246],
  '4xx': [...numbers(400, 431), 446, 451, 499],
  '5xx': [...numbers(500, 511), ...numbers(520, 530), 598, 599],
}

/** Reads the text of the filter bar. A wrong term is reported, and the others apply all the same. */
export function readFilter(text: string): Filter {
  const terms = termsOf(text)
  const query: Record<string, string> = {}
  const metadata: Record<string, string | readonly string[]> = {}
  const words: string[] = []
  const faults: { text: string; reason: string }[] = []
  for (const term of terms) {
    const { field, value, negated } = term
    const fault =
      field === null
        ? takeWords(term, words)
        : field.startsWith('metadata.')
          ? takeMetadata(term, metadata)
          : takeField({ field, value, negated }, query)
    if (fault !== null) faults.push({ text: term.text, reason: fault })
  }
  if (words.length > 0) query['q'] = words.join(' ')
  if (Object.keys(metadata).length > 0) query['metadata'] = JSON.stringify(metadata)
  return { query, terms, faults }
}

/** Returns the text without one of its terms. */
export const withoutTerm = (text: string, at: number): string =>
  termsOf(text)
    .filter((_, index) => index !== at)
    .map((term) => term.text)
    .join(' ')

/** Returns the text with one more term. */
export const withTerm = (text: string, field: string, value: string): string => `${text} ${field}:${quoted(value)}`.trim()

/** Returns the place of a term that asks for one value of a field and no other; -1: there is none. */
export const placeOf = (text: string, field: string, value: string): number =>
  termsOf(text).findIndex((term) => `${term.negated ? '-' : ''}${term.field}` === field && term.value === value)

export const quoted = (value: string): string => (/^[^\s",]+$/.test(value) ? value : `"${value.replaceAll('"', '')}"`)

function termsOf(text: string): readonly Term[] {
  return [...text.matchAll(/(-?)(?:([a-z]+(?:\.[\w.-]+)?):)?("[^"]*"|[^\s"]+)/g)].map(([whole, minus, field, value = '']) => ({
    text: whole,
    field: field ?? null,
    value: value.replaceAll('"', ''),
    negated: minus === '-',
  }))
}

function takeWords({ value, negated }: Term, words: string[]): string | null {
  if (negated) return 'Words cannot be left out; only fields can.'
  words.push(value)
  return null
}

function takeMetadata({ field, value, negated }: Term, metadata: Record<string, string | readonly string[]>): string | null {
  if (negated) return 'Metadata cannot be left out.'
  const values = value.split(',')
  metadata[(field ?? '').slice('metadata.'.length)] = values.length === 1 ? value : values
  return null
}

type FieldTerm = Pick<Term, 'value' | 'negated'> & { readonly field: string }

function takeField(term: FieldTerm, query: Record<string, string>): string | null {
  const { field, value, negated } = term
  const range = ranged[field]
  if (range !== undefined) return takeRange(term, range, query)
  const flag = switches[field]
  if (flag !== undefined) return takeSwitch(term, flag, query)
  const list = listed[field]
  if (list === undefined) return `There is no field ${field}. Fields: ${fieldNames.join(', ')}.`
  if (value.includes('*')) return 'Patterns with * are not possible; write whole values.'
  if (negated && list.only) return `${field} cannot be left out.`
  const values = field === 'status' ? statusesOf(value) : value
  if (values === null) return 'Write status codes such as 429 or 200,404, or 2xx, 4xx, 5xx.'
  const parameter = negated ? `${list.parameter}_not` : list.parameter
  const former = query[parameter]
  query[parameter] = former === undefined ? values : `${former},${values}`
  return null
}

function takeSwitch({ field, value, negated }: FieldTerm, parameter: string, query: Record<string, string>): string | null {
  const isYes = ['yes', 'true'].includes(value)
  if (!isYes && !['no', 'false'].includes(value)) return `Write ${field}:yes or ${field}:no.`
  query[parameter] = String(isYes !== negated)
  return null
}

function statusesOf(value: string): string | null {
  const parts = value.replace(/^>=([245])00$/, '$1xx').split(',')
  const known = parts.map((part) => (/^[1-5]\d\d$/.test(part) ? part : classes[part]?.join(',')))
  return known.includes(undefined) ? null : known.join(',')
}

function takeRange(
  { field, value, negated }: FieldTerm,
  { parameter, factor }: { parameter: string; factor: number },
  query: Record<string, string>,
): string | null {
  const [, operator, number] = /^(>=?|<=?)(\d+(?:\.\d+)?)$/.exec(value) ?? []
  if (number === undefined || negated) return `Write ${field}:>0.5 or ${field}:<2.`
  query[`${parameter}_${operator?.startsWith('>') ? 'min' : 'max'}`] = String(Number((Number(number) * factor).toPrecision(12)))
  return null
}
