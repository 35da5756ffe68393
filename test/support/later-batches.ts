// Batches of Together and xAI in their providers' own words, with amounts worked out by hand.

type Fields = Readonly<Record<string, unknown>>

/** A provider's answers about a job. */
export interface Told {
  readonly status?: number
  readonly body: Fields
  /** The only host that has it; absent: any. */
  readonly at?: string
  /** Other files of the provider, by path and query. */
  readonly pages?: Readonly<Record<string, string>>
}

/** A job that is charged when it is made. */
export interface Job {
  readonly provider: string
  readonly path: string
  readonly body: Fields
  /** The answer to the request. */
  readonly begins: Fields
  readonly runs: Told
  readonly ends: Fields
  readonly pages?: Told['pages']
  /** Null: it is free. */
  readonly amount: bigint | null
  /** How it is noted. */
  readonly noted: string
  readonly asks?: RegExp
}

const chat = (model: string, usage: Fields): Fields => ({ object: 'chat.completion', model, choices: [], usage })
const counted = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const isoDay = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)

/** docs.together.ai/reference/batch-create and batch-get. */
const jobOfTogether = (status: string, more: Fields = {}): Fields => ({
  id: '0199a-7b',
  user_id: 'u',
  input_file_id: 'file-in',
  file_size_bytes: 1000,
  status,
  endpoint: '/v1/chat/completions',
  progress: 50,
  ...more,
})
const lineOfTogether = (body: Fields, status_code = 200) => `${JSON.stringify({ custom_id: 'a', response: { status_code, body } })}\n`
const batchOfTogether = {
  provider: 'together-ai',
  path: '/batches',
  body: { input_file_id: 'file-in', endpoint: '/v1/chat/completions', completion_window: '24h' },
  begins: { job: jobOfTogether('VALIDATING'), warning: null },
  runs: { at: '/v1/batches/0199a-7b', body: jobOfTogether('IN_PROGRESS') },
  noted: '0199a-7b',
}
const fileOfTogether = {
  '/v1/files/file-out/content':
    lineOfTogether(chat('meta-llama/Llama-3.3-70B-Instruct-Turbo', counted)) +
    lineOfTogether(chat('openai/gpt-oss-120b', counted)) +
    lineOfTogether({ error: { message: 'no' } }, 400),
}

/** docs.x.ai/developers/advanced-api-usage/batch-api. */
const batchAtXai = (state: Fields, more: Fields = {}): Fields => ({
  batch_id: 'batch_9b-df',
  name: 'nightly',
  create_time: isoDay(0),
  expire_time: isoDay(-30),
  cancel_time: null,
  cancel_by_xai_message: null,
  state: { num_requests: 0, num_pending: 0, num_success: 0, num_error: 0, num_cancelled: 0, ...state },
  input_file_id: 'file_07',
  ...more,
})
const batchOfXai = {
  provider: 'x-ai',
  path: '/batches',
  body: { name: 'nightly', input_file_id: 'file_07' },
  begins: batchAtXai({}),
  runs: { at: '/v1/batches/batch_9b-df', body: batchAtXai({ num_requests: 3, num_pending: 1, num_success: 2 }) },
  noted: 'batch_9b-df',
}
const resultOfXai = (method: string, body: Fields) => ({ batch_request_id: 'a', batch_result: { response: { [method]: body } } })
const resultsAtXai = '/v1/batches/batch_9b-df/results?limit=100'
const answeredByXai = { num_requests: 3, num_success: 2, num_error: 1 }
const pagesOfXai = {
  [resultsAtXai]: JSON.stringify(
    {
      results: [
        resultOfXai('chat_get_completion', chat('grok-4.3', { ...counted, cost_in_usd_ticks: 37_756_010 })),
        { batch_request_id: 'b', batch_result: { error: { code: 3, message: 'no' } } },
      ],
      pagination_token: 'b&c',
    },
    null,
    2,
  ),
  [`${resultsAtXai}&pagination_token=b%26c`]: JSON.stringify({
    results: [
      resultOfXai('responses', {
        object: 'response',
        model: 'grok-4.3',
        output: [],
        usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 400 }, output_tokens: 100, total_tokens: 1100 },
      }),
    ],
    pagination_token: null,
  }),
}

/** The rates stand beside the amounts. */
export const batchJobs: Readonly<Record<string, Job>> = {
  // 1,100 x 440,000 at half the price, and 1,000 x 150,000 + 100 x 600,000 of a model that has no discount
  'a batch of Together, by the rates that its models have for batches': {
    ...batchOfTogether,
    ends: jobOfTogether('COMPLETED', { output_file_id: 'file-out', error_file_id: 'file-err' }),
    pages: fileOfTogether,
    amount: 484_000_000n + 210_000_000n,
  },
  'a batch of Together that ended too late, by the answers that it has': {
    ...batchOfTogether,
    ends: jobOfTogether('EXPIRED', { output_file_id: 'file-out' }),
    pages: fileOfTogether,
    amount: 694_000_000n,
  },
  'a batch of Together that failed': { ...batchOfTogether, ends: jobOfTogether('FAILED', { error: 'no' }), amount: null },
  'a batch of Together whose requests all failed': {
    ...batchOfTogether,
    ends: jobOfTogether('COMPLETED', { error_file_id: 'file-err' }),
    amount: null,
  },
  // 37,756,010 ticks of 10^-10 dollars, and 600 x 1,000,000 + 400 cached x 160,000 + 100 x 2,000,000
  'a batch of xAI, by the cost that its answers name, or else its rates for batches': {
    ...batchOfXai,
    ends: batchAtXai(answeredByXai),
    pages: pagesOfXai,
    amount: 3_775_601_000n + 864_000_000n,
  },
  'a batch of xAI that was cancelled, by the answers that it has': {
    ...batchOfXai,
    ends: batchAtXai({ num_requests: 3, num_success: 2, num_cancelled: 1 }, { cancel_time: isoDay(0) }),
    pages: pagesOfXai,
    amount: 4_639_601_000n,
  },
  'a batch of xAI whose file is not read yet, and is refused then': {
    ...batchOfXai,
    runs: { ...batchOfXai.runs, body: batchAtXai({}) },
    ends: batchAtXai({}, { cancel_time: isoDay(0), cancel_by_xai_message: 'JSONL file validation failed' }),
    amount: null,
  },
  'a batch of xAI without a file, to which more requests may be added on the day on which it was made': {
    ...batchOfXai,
    body: { name: 'nightly' },
    runs: { ...batchOfXai.runs, body: batchAtXai(answeredByXai, { input_file_id: null }) },
    ends: batchAtXai(answeredByXai, { input_file_id: null, create_time: isoDay(3) }),
    pages: pagesOfXai,
    amount: 4_639_601_000n,
  },
}

/** Answers of batches that cannot be read, by the faults that are noted. */
export const unreadableBatches: Readonly<
  Record<string, Pick<Job, 'provider' | 'path' | 'body' | 'begins'> & { told: Told; fault: RegExp }>
> = {
  'a batch of Together with answers that stand nowhere': {
    ...batchOfTogether,
    told: { body: jobOfTogether('COMPLETED') },
    fault: /keeps the answers of the batch where Gatehouse cannot read them/,
  },
  'a batch of Together in other words': { ...batchOfTogether, told: { body: { id: '0199a-7b' } }, fault: /returns no batch/ },
  'a batch of xAI without counts': { ...batchOfXai, told: { body: { batch_id: 'batch_9b-df' } }, fault: /returns no batch/ },
  'a batch of xAI that is another': {
    ...batchOfXai,
    told: { body: batchAtXai(answeredByXai, { batch_id: 'batch_0' }) },
    fault: /returns no batch/,
  },
  'pages of xAI that come again': {
    ...batchOfXai,
    told: {
      body: batchAtXai(answeredByXai),
      pages: { ...pagesOfXai, [`${resultsAtXai}&pagination_token=b%26c`]: pagesOfXai[resultsAtXai] ?? '' },
    },
    fault: /The pages of answers do not end/,
  },
  'pages of xAI without the answers that it counts': {
    ...batchOfXai,
    told: { body: batchAtXai(answeredByXai), pages: { [resultsAtXai]: '{"results":[]}' } },
    fault: /fewer than the count of its provider/,
  },
  'pages of xAI that are none': {
    ...batchOfXai,
    told: { body: batchAtXai(answeredByXai), pages: { [resultsAtXai]: '{"data":[]}' } },
    fault: /no page of answers/,
  },
}
