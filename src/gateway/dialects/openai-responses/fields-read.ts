import { byType, reads } from '../unplaced.ts'

/** OpenAI's own mark of the cache, and the one that clients of several vendors write. */
const marks = 'cache_control prompt_cache_breakpoint'
const text = reads(`type text ${marks}`)
const content = byType({
  input_text: text,
  output_text: reads(`type text logprobs ${marks}`),
  text,
  summary_text: text,
  refusal: reads('type refusal'),
  input_image: reads(`type image_url file_id detail ${marks}`),
  input_file: reads(`type file_id file_url file_data filename ${marks}`),
  input_audio: reads(`type input_audio ${marks}`, { input_audio: reads('data format') }),
})
const tools = byType({
  function: reads('type name description parameters strict'),
  custom: reads('type name description format'),
  namespace: reads('type name description tools'),
})
const output = reads('type id call_id namespace output status', { output: content })

/** The fields of a request for a response that are read, below those of the request itself. */
export const fieldsRead = {
  input: byType(
    {
      message: reads('type id role content status', { content }),
      function_call: reads('type id call_id name namespace arguments status'),
      custom_tool_call: reads('type id call_id name namespace input status'),
      function_call_output: output,
      custom_tool_call_output: output,
      reasoning: reads('type id summary content encrypted_content status'),
      additional_tools: reads('type id role tools status', { tools }),
    },
    'message',
  ),
  tools,
  text: reads('format verbosity', { format: reads('type name description schema strict') }),
  stream_options: reads('include_usage include_obfuscation'),
  reasoning: reads('effort summary'),
}
