// The promises of the interface about its operations, field by field: the API description must have all of it. A line is a path and a type, with `!`
// behind required fields, `[]` behind lists, and the values of an enumeration behind `=`.

/** The parts of an operation: parameters of the path, of the query, headers, the fields of the body and of the answer. */
export type Part = 'path' | 'query' | 'header' | 'body' | 'answer'

type Promised = Readonly<Partial<Record<Part, string>>>

const chat = (root: string): string => `
  ${root}messages[].content string
  ${root}messages[].role string
  ${root}messages[].name string
  ${hyperparameters(root)}`

const hyperparameters = (root: string): string => `
  ${root}model string
  ${root}frequency_penalty number
  ${root}logit_bias object
  ${root}logprobs boolean
  ${root}top_logprobs integer
  ${root}max_tokens integer
  ${root}n integer
  ${root}presence_penalty number
  ${root}response_format.type string
  ${root}seed number
  ${root}stop string
  ${root}stream boolean
  ${root}stream_options object
  ${root}thinking.type string
  ${root}thinking.budget_tokens integer
  ${root}temperature number
  ${root}top_p number
  ${root}tools[].type string
  ${root}tools[].function.name string
  ${root}tools[].function.description string
  ${root}tools[].function.parameters object
  ${root}tools[].function.strict boolean
  ${root}tool_choice string
  ${root}parallel_tool_calls boolean
  ${root}user string
  ${root}function_call string
  ${root}functions[].name string
  ${root}functions[].description string
  ${root}functions[].parameters object`

const batch = (root: string): string => `
  ${root}id! string
  ${root}object! string = batch
  ${root}endpoint! string
  ${root}input_file_id! string
  ${root}completion_window! string
  ${root}status! string = validating failed in_progress finalizing completed expired cancelling cancelled
  ${root}created_at! integer
  ${root}errors.object string
  ${root}errors.data[].code string
  ${root}errors.data[].message string
  ${root}errors.data[].param string
  ${root}errors.data[].line integer
  ${root}output_file_id string
  ${root}error_file_id string
  ${root}in_progress_at integer
  ${root}expires_at integer
  ${root}finalizing_at integer
  ${root}completed_at integer
  ${root}failed_at integer
  ${root}expired_at integer
  ${root}cancelling_at integer
  ${root}cancelled_at integer
  ${root}request_counts.total integer
  ${root}request_counts.completed integer
  ${root}request_counts.failed integer
  ${root}metadata object`

const job = (root: string): string => `
  ${root}id! string
  ${root}created_at! integer
  ${root}error!.code string
  ${root}error!.message string
  ${root}error!.param string
  ${root}fine_tuned_model! string
  ${root}finished_at! integer
  ${root}hyperparameters!.n_epochs string
  ${root}model! string
  ${root}object! string = fine_tuning.job
  ${root}organization_id! string
  ${root}result_files[]! string
  ${root}status! string = validating_files queued running succeeded failed cancelled
  ${root}trained_tokens! integer
  ${root}training_file! string
  ${root}validation_file! string
  ${root}seed! integer
  ${root}integrations[].type string
  ${root}estimated_finish integer`

const message = (root: string): string => `
  ${root}id string
  ${root}object string = thread.message
  ${root}created_at integer
  ${root}thread_id string
  ${root}status string
  ${root}incomplete_details.reason string
  ${root}completed_at integer
  ${root}incomplete_at integer
  ${root}role string
  ${root}content[].type string
  ${root}content[].image_file.file_id string
  ${root}content[].image_file.detail string
  ${root}assistant_id string
  ${root}run_id string
  ${root}attachments[].file_id string
  ${root}attachments[].tools[].type string
  ${root}metadata object`

const policy = (root: string): string => `
  ${root}id! string
  ${root}type! string = requests tokens
  ${root}unit! string = rpm rph rpd
  ${root}value! number
  ${root}status! string = active archived
  ${root}workspace_id! string
  ${root}organisation_id! string
  ${root}created_at! string
  ${root}last_updated_at! string
  ${root}name string
  ${root}conditions[].key string
  ${root}conditions[].value string
  ${root}group_by[].key string
  ${root}object string`

const response = `
  id! string
  object! string = response
  created_at! number
  status string = completed failed in_progress incomplete
  error!.code string
  error!.message string
  incomplete_details!.reason string
  model! string = o1-pro o1-pro-2025-03-19 computer-use-preview computer-use-preview-2025-03-11
  instructions! string
  metadata! object
  temperature number
  top_p number
  tools[]!.type string
  tools[].vector_store_ids[] string
  tools[].max_num_results integer
  tools[].filters.type string
  tools[].filters.key string
  tools[].filters.value any
  tools[].ranking_options.ranker string
  tools[].ranking_options.score_threshold number
  tool_choice! string = none auto required
  output[]!.id string
  output[].type string
  output[].role string
  output[].status string
  output[].content[].type string
  output[].content[].text string
  output[].content[].annotations[].type string
  output[].content[].annotations[].index integer
  output[].content[].annotations[].file_id string
  parallel_tool_calls! boolean
  user string
  previous_response_id string
  reasoning.effort string
  reasoning.generate_summary string
  max_output_tokens integer
  text.format.type string
  truncation string = auto disabled
  output_text string
  usage.input_tokens integer
  usage.input_tokens_details.cached_tokens integer
  usage.output_tokens integer
  usage.output_tokens_details.reasoning_tokens integer
  usage.total_tokens integer`

const keys = 'x-service-api-key string'
const stored = `${keys}
  x-service-virtual-key string`

/** The promises by operation, at every level that has it. */
export const promised: Readonly<Record<string, Promised>> = {
  'POST /prompts/{promptId}/render': {
    path: 'promptId! string',
    body: `variables! object${hyperparameters('')}`,
    answer: `success! boolean\n${chat('data!.')}`,
  },
  'POST /chat/completions': { header: keys, body: chat('') },
  'GET /threads/{thread_id}/messages': {
    path: 'thread_id! string',
    header: stored,
    query: `limit integer
      order string = asc desc
      after string
      before string
      run_id string`,
    answer: `object! string = list
      first_id! string
      last_id! string
      has_more! boolean
      ${message('data[]!.')}`,
  },
  'GET /batches': {
    header: stored,
    query: 'after string\nlimit integer',
    answer: `object! string = list
      has_more! boolean
      first_id string
      last_id string
      ${batch('data[]!.')}`,
  },
  'POST /batches/{batch_id}/cancel': { path: 'batch_id! string', header: stored, answer: batch('') },
  'POST /completions': {
    header: stored,
    body: `model! string
      prompt! string
      best_of integer
      echo boolean
      frequency_penalty number
      logit_bias object
      logprobs integer
      max_tokens integer
      n integer
      presence_penalty number
      seed number
      stop string
      stream boolean
      stream_options object
      suffix string
      temperature number
      top_p number
      user string`,
    answer: `id! string
      choices[]!.finish_reason string
      choices[].index integer
      choices[].text string
      choices[].logprobs.text_offset[] integer
      choices[].logprobs.token_logprobs[] number
      choices[].logprobs.tokens[] string
      choices[].logprobs.top_logprobs[] object
      created! integer
      model! string
      object! string = text_completion
      system_fingerprint string
      usage.completion_tokens integer
      usage.prompt_tokens integer
      usage.total_tokens integer`,
  },
  'POST /fine_tuning/jobs': {
    header: stored,
    body: `model! string
      training_file! string
      suffix! string
      method! object
      validation_file string`,
    answer: job(''),
  },
  'GET /fine_tuning/jobs/{fine_tuning_job_id}': { path: 'fine_tuning_job_id! string', header: stored, answer: job('') },
  'GET /fine_tuning/jobs': {
    header: stored,
    query: 'after string\nlimit integer',
    answer: `object! string = list
      has_more! boolean
      ${job('data[]!.')}`,
  },
  'POST /guardrails': {
    body: `name! string
      checks[]!.id string
      checks[].parameters object
      actions!.onFail string
      actions!.message string
      workspace_id string
      organisation_id string`,
    answer: 'id! string\nslug! string\nversion_id! string',
  },
  'GET /responses/{response_id}': {
    path: 'response_id! string',
    header: keys,
    query: 'include[] string = file_search_call.results message.input_image.image_url computer_call_output.output.image_url',
    answer: response,
  },
  'GET /policies/rate-limits/{rateLimitsPolicyId}': {
    path: 'rateLimitsPolicyId! string',
    query: 'status string = active archived',
    answer: policy(''),
  },
  'GET /policies/rate-limits': {
    query: `workspace_id string
      status string = active archived
      type string = requests tokens
      unit string = rpm rph rpd
      page_size integer
      current_page integer`,
    answer: `object! string = list
      total integer
      ${policy('data[].')}`,
  },
}

const grouped: Promised = {
  path: 'groupBy! string = ai_service model status_code api_key config workspace provider prompt',
  query: `columns string`,
}

const reset = (root: string): string => `
  ${root}periodic_reset_days integer
  ${root}next_usage_reset_at string
  ${root}periodic_reset string = weekly monthly`

/** The promises that a later release made, by that release. */
export const promisedSince: Readonly<Record<string, Readonly<Record<string, Promised>>>> = {
  '1.7.0': { 'POST /api-keys/{type}/{subType}': { body: 'usage_limits.periodic_reset string\nusage_limits.periodic_reset_days integer' } },
  '1.7.3': {
    'POST /integrations': { body: 'tags object' },
    'PUT /integrations/{slug}': { body: 'tags object' },
    'GET /integrations': { query: 'tags string' },
    'POST /providers': { body: 'tags object' },
    'PUT /providers/{slug}': { body: 'tags object' },
    'GET /providers': { query: 'tags string' },
  },
  '1.10.0': {
    'POST /admin/workspaces': { body: reset('usage_limits[].') },
    'PUT /admin/workspaces/{workspaceId}': { body: `reset_usage boolean${reset('usage_limits[].')}` },
    'PUT /integrations/{slug}/workspaces': {
      body: 'create_default_provider boolean\ndefault_provider_slug string',
    },
  },
  '1.11.2': {
    'GET /analytics/groups/{groupBy}': grouped,
    'GET /logs/groups/{groupBy}': grouped,
    'GET /workspaces': { query: 'status string' },
    'PUT /prompts/{promptId}': { body: 'patch boolean' },
    'POST /integrations': { body: 'create_default_provider boolean\ndefault_provider_slug string' },
  },
  '1.12.0': {
    'GET /logs/{logId}': { answer: 'log_format string' },
    'POST /secret-references': { body: 'allow_all_workspaces boolean\nallowed_workspaces[] string' },
    'POST /virtual-keys': { body: 'secret_mappings[].target_field string' },
  },
}
