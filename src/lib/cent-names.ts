/** The names of public price files for dimensions. Others are left out, so that their use is unpriced and not free. */
export const centNames: Readonly<Record<string, string>> = {
  request_token: 'input',
  response_token: 'output',
  cache_read_input_token: 'cache_read',
  cache_write_input_token: 'cache_write',
  request_audio_token: 'input_audio',
  response_audio_token: 'output_audio',
  cache_read_audio_input_token: 'cache_read_audio',
  reasoning_token: 'reasoning',
  request_image_token: 'input_image',
  response_image_token: 'output_image',
  cache_read_image_input_token: 'cache_read_image',
}

/** The names of `additional_units`. */
export const centUnits: Readonly<Record<string, string>> = {
  web_search: 'web_search',
  file_search: 'file_search',
  cache_write_1h: 'cache_write_1h',
}
