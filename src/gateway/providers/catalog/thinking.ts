import type { Effort } from '../../dialects/neutral/request.ts'
import type { ThinkingControl } from '../../dialects/traits.ts'

/** Efforts whose words are those of OpenAI's. */
const efforts = (...known: readonly Effort[]): Pick<ThinkingControl, 'efforts'> => ({
  efforts: Object.fromEntries(known.map((effort) => [effort, effort])),
})
const lowToHigh = efforts('low', 'medium', 'high')

/** Models that think always, or never. */
const unsteered = (models: RegExp): ThinkingControl => ({ models })

const thinkingType = { on: { thinking: { type: 'enabled' } }, off: { thinking: { type: 'disabled' } } } as const
const enableThinking = { on: { enable_thinking: true }, off: { enable_thinking: false } } as const

const overDashscope = { ...enableThinking, budget: { at: ['thinking_budget'] }, freeChoice: true } as const

/** docs.vllm.ai and docs.sglang.ai: the template of a model switches it, and gpt-oss has efforts. */
const byTemplate: readonly ThinkingControl[] = [
  { models: /gpt-oss/i, ...lowToHigh },
  { on: { chat_template_kwargs: { enable_thinking: true } }, off: { chat_template_kwargs: { enable_thinking: false } } },
]

/** How the amount of thinking is set at providers of OpenAI's format, where that is not by `reasoning_effort` in all words of OpenAI's. */
export const thinking = {
  // inference-docs.cerebras.ai/api-reference.
  cerebras: [lowToHigh],
  // help.aliyun.com/model-studio, deep thinking and error-code: the open models of Qwen3 think unless they are told otherwise, and in streams alone.
  dashscope: [{ models: /^qwen3-[\d.]+b(?:-a\d+b)?$/, ...overDashscope, onlyStreamed: true }, overDashscope],
  // docs.deepinfra.com/api-reference.
  deepinfra: [efforts('none', 'low', 'medium', 'high')],
  // api-docs.deepseek.com/guides/thinking_mode: R1 thinks in any case.
  deepseek: [unsteered(/deepseek-(?:r1|reasoner)/i), { ...thinkingType, ...efforts('low', 'medium', 'high', 'max'), freeChoice: true }],
  'featherless-ai': byTemplate,
  // docs.fireworks.ai/guides/reasoning: by model.
  'fireworks-ai': [
    { models: /deepseek-v4/, ...efforts('none', 'low', 'medium', 'high', 'xhigh') },
    { models: /glm-5/, ...efforts('none', 'high', 'max') },
    lowToHigh,
  ],
  // console.groq.com/docs/reasoning: Qwen is switched by words of its own, and by default puts its thoughts into the text; models that do not think
  // refuse all of them.
  groq: [
    { models: /qwen/i, efforts: { none: 'none', medium: 'default' }, always: { reasoning_format: 'parsed' } },
    unsteered(/llama|kimi|gemma|compound|allam/i),
    lowToHigh,
  ],
  hyperbolic: byTemplate,
  'kluster-ai': byTemplate,
  // docs.mistral.ai/capabilities/reasoning.
  'mistral-ai': [
    { models: /magistral/, on: { prompt_mode: 'reasoning' } },
    unsteered(/codestral|devstral|ministral|pixtral|voxtral|nemo|mistral-(?:large|tiny|saba|ocr)/),
    efforts('none', 'high'),
  ],
  modal: byTemplate,
  // platform.moonshot.cn/docs/api/chat.
  moonshot: [{ ...thinkingType, ...efforts('low', 'high', 'max'), budget: { at: ['thinking', 'budget_tokens'] } }],
  // docs.tokenfactory.nebius.com/api-reference.
  nebius: [lowToHigh],
  // novita.ai/docs/api-reference.
  'novita-ai': [enableThinking],
  nscale: byTemplate,
  // openrouter.ai/docs/use-cases/reasoning-tokens: one field steers the reasoning of all vendors.
  openrouter: [
    {
      on: { reasoning: { enabled: true } },
      ...efforts('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
      effortAt: ['reasoning', 'effort'],
      budget: { at: ['reasoning', 'max_tokens'] },
      hideAt: ['reasoning', 'exclude'],
    },
  ],
  // docs.perplexity.ai/api-reference.
  'perplexity-ai': [{ models: /deep-research|reasoning/, ...efforts('minimal', 'low', 'medium', 'high') }, {}],
  sambanova: byTemplate,
  // docs.siliconflow.cn/api-reference.
  siliconflow: [{ ...enableThinking, budget: { at: ['thinking_budget'], min: 128, max: 32_768 } }],
  // docs.together.ai/docs/inference/chat/reasoning: gpt-oss has efforts, all others are switched.
  'together-ai': [
    { models: /gpt-oss/i, ...lowToHigh },
    { on: { reasoning: { enabled: true } }, off: { reasoning: { enabled: false } } },
  ],
  'x-ai': [
    // docs.x.ai/docs/guides/reasoning: models that think as they like, or not at all, refuse an effort.
    unsteered(/grok-(?:2|3(?!-mini)|code|4(?:$|-\d{4}|-latest|-fast))/),
    { models: /multi-agent/, ...efforts('low', 'medium', 'high', 'xhigh') },
    unsteered(/grok-4\.20/),
    { models: /grok-4\.5/, ...lowToHigh },
    { models: /grok-4\.6/, ...efforts('none', 'low', 'medium', 'high', 'xhigh') },
    efforts('none', 'low', 'medium', 'high'),
  ],
  // docs.z.ai and docs.bigmodel.cn, chat completion.
  'z-ai': [thinkingType],
  zhipu: [thinkingType],
} as const satisfies Record<string, readonly ThinkingControl[]>
