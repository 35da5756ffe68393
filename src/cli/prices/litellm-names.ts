/** The providers of LiteLLM's list whose names differ from ours. */
export const litellmProviders: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  azure_ai: 'azure-ai',
  azure_text: 'azure-openai',
  bedrock_converse: 'bedrock',
  bedrock_mantle: 'bedrock-mantle',
  bigmodel: 'zhipu',
  cloudflare: 'workers-ai',
  codestral: 'mistral-ai',
  cohere_chat: 'cohere',
  fal_ai: 'fal-ai',
  featherless_ai: 'featherless-ai',
  fireworks_ai: 'fireworks-ai',
  'fireworks_ai-embedding-models': 'fireworks-ai',
  gemini: 'google',
  jina_ai: 'jina',
  lambda_ai: 'lambda',
  mistral: 'mistral-ai',
  novita: 'novita-ai',
  oci: 'oracle',
  perplexity: 'perplexity-ai',
  recraft: 'recraft-ai',
  snowflake: 'cortex',
  stability: 'stability-ai',
  'text-completion-codestral': 'mistral-ai',
  'text-completion-openai': 'openai',
  together_ai: 'together-ai',
  xai: 'x-ai',
  zai: 'z-ai',
}

/** The beginnings of keys before the name of a model, besides the name of the provider. */
export const litellmPrefixes: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['azure/', 'azure_text/'],
  bedrock: ['bedrock/', 'bedrock_converse/'],
  'fireworks-ai': ['fireworks_ai/'],
  'vertex-ai': ['vertex_ai/'],
}

/** Fields with a price of one unit, and the dimension that each is for. */
export const litellmRates: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  input_cost_per_token_cache_hit: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  cache_read_input_audio_token_cost: 'cache_read_audio',
  cache_creation_input_audio_token_cost: 'cache_write_audio',
  input_cost_per_image_token: 'input_image',
  output_cost_per_image_token: 'output_image',
  cache_read_input_image_token_cost: 'cache_read_image',
  input_cost_per_video_token: 'input_video',
  output_cost_per_video_token: 'output_video',
  input_cost_per_character: 'input_character',
  output_cost_per_character: 'output_character',
  ocr_cost_per_page: 'page',
  annotation_cost_per_page: 'annotated_page',
  code_interpreter_cost_per_session: 'code_session',
  citation_cost_per_token: 'citation',
  google_maps_grounding_cost_per_query: 'maps',
  input_cost_per_request: 'request',
  input_cost_per_text_message: 'text_message',
  explicit_cache_read_input_token_cost: 'cache_read_explicit',
}

/** Fields that are for one thing or another, by the kind of the model. `any` holds for all other kinds. */
export const litellmByKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  input_cost_per_second: { transcription: 'input_audio_second', realtime: 'input_audio_second' },
  input_cost_per_audio_per_second: { any: 'input_audio_second' },
  input_cost_per_video_per_second: { any: 'input_video_second' },
  output_cost_per_second: { speech: 'output_audio_second', video: 'video_second' },
  output_cost_per_video_per_second: { any: 'video_second' },
  output_cost_per_image: { any: 'image' },
  input_cost_per_image: { image: 'image', any: 'input_image_each' },
  input_cost_per_query: { rerank: 'search_unit', any: 'request' },
}

/** The kinds of models, as we call them. */
export const litellmKinds: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  image_generation: 'image',
  image_edit: 'image',
  audio_transcription: 'transcription',
  audio_speech: 'speech',
  video_generation: 'video',
  realtime: 'realtime',
  rerank: 'rerank',
  ocr: 'ocr',
  search: 'search',
  moderation: 'moderation',
}

/** Ends of fields that name a mode. */
export const litellmModes: Readonly<Record<string, string>> = {
  batches: 'batch',
  priority: 'priority',
  flex: 'flex',
  ultrafast: 'ultrafast',
}

/** Fields that are true if a model has an ability. */
export const litellmAbilities: Readonly<Record<string, string>> = {
  supports_function_calling: 'tools',
  supports_parallel_function_calling: 'parallel_tools',
  supports_response_schema: 'json_schema',
  supports_reasoning: 'reasoning',
  supports_prompt_caching: 'prompt_cache',
  supports_web_search: 'web_search',
  supports_computer_use: 'computer_use',
}

/** Fields that are true if a model takes a kind of input. */
export const litellmInputs: Readonly<Record<string, string>> = {
  supports_vision: 'image',
  supports_pdf_input: 'pdf',
  supports_audio_input: 'audio',
  supports_video_input: 'video',
}
