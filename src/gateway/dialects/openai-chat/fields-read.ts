import { byField, byType, reads } from '../unplaced.ts'

const marks = 'cache_control prompt_cache_breakpoint'
const content = byType(
  {
    text: reads(`type text ${marks}`),
    image_url: reads(`type image_url ${marks}`, { image_url: reads('url detail') }),
    video_url: reads(`type video_url ${marks}`, { video_url: reads('url') }),
    input_audio: reads(`type input_audio ${marks}`, { input_audio: reads('data format') }),
    file: reads(`type file ${marks}`, { file: reads('file_id file_data filename') }),
    refusal: reads('type refusal'),
    thinking: reads('type thinking'),
  },
  'text',
)
const calls = reads('id type index function custom extra_content', { function: reads('name arguments'), custom: reads('name input') })
const declared = 'name description parameters strict cache_control'

/** The fields of a message: `name` has its place in the results of tools alone. */
const ofMessage =
  'role content refusal audio tool_calls tool_call_id function_call reasoning reasoning_content thinking_blocks cache_control'
const within = { content, tool_calls: calls, thinking_blocks: reads('type thinking signature data cache_control') }

const [named, plain] = [reads(`${ofMessage} name`, within), reads(ofMessage, within)]

/** The fields of a chat that are read, below those of the request itself. */
export const fieldsRead = {
  messages: byField('role', { system: plain, developer: plain, user: plain, assistant: plain, tool: named, function: named }),
  tools: byType(
    {
      function: reads('type function cache_control', { function: reads(declared) }),
      custom: reads('type custom', { custom: reads('name description format') }),
    },
    'function',
  ),
  functions: reads(declared),
  thinking: reads('type budget_tokens display'),
  stream_options: reads('include_usage include_obfuscation'),
  response_format: reads('type json_schema', { json_schema: reads('name description schema strict') }),
}
