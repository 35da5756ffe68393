import { header, noAuth, type Offer, type Provider, type Quirks, scheme, type NativeOperation } from '../provider.ts'
import { thinking } from './thinking.ts'
import {
  at,
  batches,
  besideChats,
  chat,
  codeCompletions,
  completions,
  embeddings,
  everything,
  files,
  finetunes,
  imageEdits,
  images,
  keptResponses,
  moderations,
  openai,
  responses,
  speech,
  transcriptions,
  translations,
} from './rows.ts'

/** Hosts whose base URL carries no version: the operations sit below `/v1`. */
const v1 = (baseUrl: string | null, speaks: readonly NativeOperation[], rest: Partial<Provider> = {}): Provider =>
  openai(baseUrl, at(speaks, '/v1'), rest)

/** Their API reference has `max_tokens` only. */
const maxTokens: Quirks = { rename: { max_completion_tokens: 'max_tokens' } }

/** Rerank in Cohere's fields, with texts alone. */
const rerank = (path: string): Offer => ({ task: 'rerank', dialect: 'cohere', path, traits: { form: 'plain' } })

/** The field of reasoning, which goes back with the turn that it belongs to. */
const reasoningContent = { reasoningField: 'reasoning_content' } as const
const reasoning = { reasoningField: 'reasoning' } as const

/** Chats that take `top_k`, by the documents of each. */
const topK = { topK: true } as const

/** The operations that resellers of many vendors pass on: docs of 302.AI and of CometAPI. */
const resold = [...chat, ...embeddings, ...images, ...imageEdits, ...speech, ...transcriptions, ...translations]

const huggingfaceModel = '/hf-inference/models/{+model}'

/** Providers that take and answer the OpenAI shape; a row lists the operations of each and how it differs. */
export const openaiCompatible = {
  openai: openai('https://api.openai.com/v1', everything, {
    fields: { openai_organization: '', openai_project: '', openai_beta: '' },
    fieldHeaders: { openai_organization: 'openai-organization', openai_project: 'openai-project', openai_beta: 'openai-beta' },
    // platform.openai.com/docs/api-reference/chat: reasoning models refuse max_tokens, and take the role developer.
    traits: { cap: 'max_completion_tokens', developerRole: true, allowedTools: true, keepsFiles: true },
  }),
  '302ai': v1('https://api.302.ai', [...resold, ...moderations], { offers: [rerank('/v1/rerank')] }),
  aibadgr: openai('https://aibadgr.com/api/v1', [...chat, ...embeddings]),
  anyscale: openai('https://api.endpoints.anyscale.com/v1', [...chat, ...completions, ...embeddings]),
  // docs.bytez.com/http-reference: OpenAI's paths sit below those of its own tasks, which take the key by a scheme of their own.
  bytez: openai('https://api.bytez.com', at([...chat, ...completions], '/models/v2/openai/v1'), {
    quirks: maxTokens,
    authAt: [/^(?!.*\/openai\/v1\/)/, scheme('Key')],
  }),
  // inference-docs.cerebras.ai/api-reference: of chats, penalties and logit_bias give a 400.
  cerebras: openai('https://api.cerebras.ai/v1', [...chat, ...completions, ...files, ...batches], {
    quirks: { drop: ['frequency_penalty', 'presence_penalty', 'logit_bias'] },
    traits: { cap: 'max_completion_tokens', ...reasoning, thinking: thinking.cerebras },
  }),
  cometapi: openai('https://api.cometapi.com/v1', resold),
  // help.aliyun.com/model-studio: models for code alone fill in texts.
  dashscope: openai(
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    [...chat, ...codeCompletions, ...embeddings, ...files, ...batches],
    {
      quirks: { ...maxTokens, drop: ['frequency_penalty'] },
      traits: {
        ...reasoningContent,
        ...topK,
        thinking: thinking.dashscope,
      },
    },
  ),
  deepbricks: openai('https://api.deepbricks.ai/v1', [...chat, ...images]),
  // docs.deepinfra.com: all of OpenAI's paths that run models, and batches.
  deepinfra: openai('https://api.deepinfra.com/v1/openai', [...chat, ...besideChats, ...files, ...batches], {
    quirks: maxTokens,
    traits: { ...reasoningContent, ...topK, thinking: thinking.deepinfra },
  }),
  // api-docs.deepseek.com/api/create-completion: a text is filled in by completions of the beta. Reasoning of R1 must not come back to it, that of
  // later models must, under any name of theirs: guides/thinking_mode.
  deepseek: v1('https://api.deepseek.com', chat, {
    quirks: maxTokens,
    traits: {
      ...reasoningContent,
      refusesReasoning: /deepseek-r1/i,
      thinking: thinking.deepseek,
    },
    offers: [{ task: 'completion', dialect: 'completions', path: '/beta/completions' }],
  }),
  'featherless-ai': openai('https://api.featherless.ai/v1', [...chat, ...completions, ...embeddings], {
    traits: { ...topK, thinking: thinking['featherless-ai'] },
  }),
  // docs.fireworks.ai/api-reference: batches, fine-tunes and files have their own paths, shapes and hosts: pass-through.
  'fireworks-ai': openai(
    'https://api.fireworks.ai/inference/v1',
    [...chat, ...completions, ...embeddings, ...transcriptions, ...translations, ...keptResponses],
    {
      fields: { fireworks_account_id: '' },
      traits: { ...reasoningContent, ...topK, thinking: thinking['fireworks-ai'] },
      offers: [
        rerank('/rerank'),
        { task: 'image', dialect: 'images', path: '/workflows/{+model}/text_to_image', traits: { form: 'fireworks' } },
      ],
    },
  ),
  // console.groq.com/docs/openai: logprobs, logit_bias, top_logprobs and n above 1 give a 400.
  groq: openai(
    'https://api.groq.com/openai/v1',
    [...chat, ...speech, ...transcriptions, ...translations, ...files, ...batches, ...finetunes],
    {
      quirks: { drop: ['logit_bias', 'logprobs', 'top_logprobs', 'n'] },
      traits: {
        cap: 'max_completion_tokens',
        ...reasoning,
        thinking: thinking.groq,
      },
    },
  ),
  // huggingface.co/docs/inference-providers: the router takes chats for all of its providers; models that Hugging Face itself runs stand in the path.
  // A dedicated endpoint serves one model, so its paths name none.
  huggingface: openai('https://router.huggingface.co', [...at(chat, '/v1'), ...at(completions, `${huggingfaceModel}/v1`)], {
    fields: { huggingface_base_url: '' },
    variants: [
      {
        field: 'huggingface_base_url',
        baseUrl: '{huggingface_base_url}',
        speaks: at([...chat, ...completions, ...embeddings], '/v1'),
      },
    ],
    offers: [
      {
        task: 'embedding',
        dialect: 'embeddings',
        path: `${huggingfaceModel}/pipeline/feature-extraction`,
        traits: { form: 'feature-extraction' },
      },
      { task: 'image', dialect: 'images', path: huggingfaceModel, traits: { form: 'huggingface' } },
      { task: 'transcription', dialect: 'audio', path: huggingfaceModel, traits: { form: 'huggingface' } },
    ],
  }),
  // docs.hyperbolic.ai/inference: images have a path and a shape of their own. Speech does too, and ends: pass-through.
  hyperbolic: v1('https://api.hyperbolic.xyz', chat, {
    traits: { ...topK, thinking: thinking.hyperbolic },
    offers: [{ task: 'image', dialect: 'images', path: '/v1/image/generation', traits: { form: 'hyperbolic' } }],
  }),
  'inference-net': openai('https://api.inference.net/v1', [...chat, ...embeddings]),
  iointelligence: openai('https://api.intelligence.io.solutions/api/v1', [...chat, ...embeddings, ...responses, ...transcriptions]),
  jina: openai('https://api.jina.ai/v1', embeddings, {
    traits: { form: 'jina' },
    offers: [{ task: 'rerank', dialect: 'cohere', path: '/rerank' }],
  }),
  'kluster-ai': openai('https://api.kluster.ai/v1', [...chat, ...embeddings, ...files, ...batches], {
    traits: { thinking: thinking['kluster-ai'] },
  }),
  krutrim: openai('https://cloud.olakrutrim.com/v1', chat),
  lambda: openai('https://api.lambdalabs.com/v1', [...chat, ...completions]),
  'lemonfox-ai': openai('https://api.lemonfox.ai/v1', [...chat, ...images, ...speech, ...transcriptions, ...translations]),
  lepton: openai('https://api.lepton.ai', at([...chat, ...completions, ...transcriptions], '/api/v1')),
  lingyi: v1('https://api.lingyiwanwu.com', [...chat, ...embeddings]),
  matterai: openai('https://api.matterai.so/v1', chat),
  // docs.mistral.ai/api: random_seed and max_tokens; temperature from 0 to 1.5; unknown fields give a 422; usage comes unasked.
  'mistral-ai': openai('https://api.mistral.ai/v1', [...chat, ...embeddings, ...speech, ...transcriptions, ...files, ...finetunes], {
    quirks: {
      rename: { seed: 'random_seed', max_completion_tokens: 'max_tokens' },
      drop: ['logprobs', 'top_logprobs', 'logit_bias', 'user', 'store', 'stream_options', 'service_tier', 'verbosity'],
      clamp: { temperature: [0, 1.5] },
    },
    traits: {
      streamUsage: false,
      documentUrls: true,
      toolIds: 'nine-characters',
      form: 'mistral',
      thinking: thinking['mistral-ai'],
    },
    offers: [
      { task: 'moderation', dialect: 'moderations', path: '/moderations' },
      // docs.mistral.ai/capabilities/code_generation: the text between a prompt and a suffix is filled in.
      { task: 'completion', dialect: 'mistral-fim', path: '/fim/completions', models: /^codestral/ },
    ],
  }),
  // modal.com/docs/guide/webhook-proxy-auth: a token pair in two headers, for endpoints behind proxy auth.
  modal: openai('https://api.modal.com/v1', [...chat, ...completions], {
    fields: { modal_key: '', modal_secret: '' },
    fieldHeaders: { modal_key: 'modal-key', modal_secret: 'modal-secret' },
    traits: { ...topK, thinking: thinking.modal },
  }),
  monsterapi: openai('https://llm.monsterapi.ai/v1', chat),
  // platform.moonshot.cn/docs/api/chat: temperature from 0 to 1.
  moonshot: v1('https://api.moonshot.cn', [...chat, ...files, ...batches], {
    quirks: { ...maxTokens, clamp: { temperature: [0, 1] } },
    traits: {
      ...reasoningContent,
      thinking: thinking.moonshot,
    },
  }),
  ncompass: openai('https://api.ncompass.tech/v1', chat),
  nebius: openai(
    'https://api.studio.nebius.ai/v1',
    [...chat, ...completions, ...embeddings, ...images, ...files, ...batches, ...finetunes],
    { traits: { ...reasoningContent, ...topK, thinking: thinking.nebius }, offers: [rerank('/rerank')] },
  ),
  nextbit: openai('https://api.nextbit256.com/v1', [...chat, ...completions]),
  // novita.ai/docs/api-reference: later operations have the newer base path.
  'novita-ai': openai(
    'https://api.novita.ai/v3/openai',
    [...at([...chat, ...completions], '/v1'), ...at([...embeddings, ...files, ...batches], '^/openai/v1')],
    { traits: { ...reasoningContent, ...topK, thinking: thinking['novita-ai'] }, offers: [rerank('^/openai/v1/rerank')] },
  ),
  nscale: openai('https://inference.api.nscale.com/v1', [...chat, ...images], { traits: { thinking: thinking.nscale } }),
  // docs.ollama.com/api: its OpenAI shape sits below /v1, its own API, which has more fields, below /api.
  ollama: v1(null, [...chat, ...completions, ...embeddings], {
    auth: noAuth,
    traits: reasoning,
    offers: [
      { task: 'conversation', dialect: 'ollama', path: '~/api/chat', first: true },
      { task: 'embedding', dialect: 'ollama', path: '~/api/embed', first: true },
    ],
  }),
  // openrouter.ai/docs/api-reference: images are made at a path of its own, in OpenAI's shape.
  openrouter: openai(
    'https://openrouter.ai/api',
    [
      ...at([...chat, ...completions, ...embeddings, ...speech, ...transcriptions], '/v1'),
      { operation: 'imageGenerate', dialect: 'images', path: '/v1/images' },
    ],
    {
      traits: {
        ...reasoning,
        ...topK,
        reasoningDetails: true,
        thinking: thinking.openrouter,
      },
      offers: [rerank('/v1/rerank')],
    },
  ),
  ovhcloud: openai('https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', [...chat, ...embeddings, ...images, ...transcriptions]),
  // docs.perplexity.ai/api-reference: usage comes with every chunk of a chat; vectors have a version in their path.
  'perplexity-ai': openai('https://api.perplexity.ai', [...chat, ...at(embeddings, '/v1')], {
    quirks: { ...maxTokens, drop: ['seed', 'logprobs', 'top_logprobs', 'stop', 'stream_options'] },
    traits: {
      streamUsage: false,
      thinking: thinking['perplexity-ai'],
    },
  }),
  predibase: openai(
    'https://serving.app.predibase.com',
    at([...chat, ...completions], '/{predibase_tenant_id}/deployments/v2/llms/{model}/v1'),
    {
      fields: { predibase_tenant_id: null },
    },
  ),
  'recraft-ai': openai('https://external.api.recraft.ai/v1', images),
  // docs.reka.ai: chats in OpenAI's shape, for Reka's own models and those of others; speech/overview: its own paths want the key in a header.
  'reka-ai': v1('https://api.reka.ai', chat, { authAt: [/^(?!.*\/(?:chat\/completions|models)(?:\?|$))/, header('x-api-key')] }),
  sambanova: v1('https://api.sambanova.ai', [...chat, ...completions, ...embeddings, ...transcriptions, ...translations], {
    quirks: maxTokens,
    traits: { ...topK, thinking: thinking.sambanova },
  }),
  // docs.siliconflow.cn/api-reference: pictures are named `images` too, beside OpenAI's `data`.
  siliconflow: openai(
    'https://api.siliconflow.cn/v1',
    [...chat, ...embeddings, ...images, ...speech, ...transcriptions, ...files, ...batches],
    {
      quirks: maxTokens,
      traits: {
        ...reasoningContent,
        ...topK,
        thinking: thinking.siliconflow,
      },
      offers: [rerank('/rerank')],
    },
  ),
  // docs.together.ai/reference: fine-tunes have a path of their own.
  'together-ai': v1(
    'https://api.together.xyz',
    [...chat, ...completions, ...embeddings, ...images, ...speech, ...transcriptions, ...translations, ...files, ...batches],
    {
      quirks: maxTokens,
      traits: {
        ...reasoning,
        ...topK,
        thinking: thinking['together-ai'],
      },
      offers: [rerank('/v1/rerank')],
    },
  ),
  upstage: openai('https://api.upstage.ai/v1/solar', [...chat, ...embeddings]),
  voyage: openai('https://api.voyageai.com/v1', [...embeddings, ...files, ...batches], {
    traits: { form: 'voyage' },
    offers: [{ task: 'rerank', dialect: 'cohere', path: '/rerank' }],
  }),
  // docs.x.ai/developers/model-capabilities: models that reason refuse penalties and ends; pictures that are changed come in JSON, not in a form.
  'x-ai': openai('https://api.x.ai/v1', [...chat, ...completions, ...embeddings, ...images, ...files, ...batches, ...keptResponses], {
    quirks: { dropOf: [/^(?!.*non-reasoning).*grok-(?:3-mini|4|[5-9]|code|latest)/, ['stop', 'frequency_penalty', 'presence_penalty']] },
    offers: [{ task: 'image-edit', dialect: 'images', path: '/images/edits', traits: { form: 'xai' } }],
    traits: {
      cap: 'max_completion_tokens',
      ...reasoningContent,
      thinking: thinking['x-ai'],
    },
  }),
  // docs.z.ai and docs.bigmodel.cn, chat completion: max_tokens; temperature from 0 to 1.
  'z-ai': openai('https://api.z.ai/api/paas/v4', [...chat, ...embeddings, ...images, ...transcriptions, ...files], {
    quirks: { ...maxTokens, drop: ['n', 'seed', 'logprobs', 'top_logprobs'], clamp: { temperature: [0, 1] } },
    traits: { ...reasoningContent, thinking: thinking['z-ai'] },
  }),
  zhipu: openai(
    'https://open.bigmodel.cn/api/paas/v4',
    [...chat, ...embeddings, ...images, ...moderations, ...speech, ...transcriptions, ...files, ...batches],
    {
      quirks: { ...maxTokens, drop: ['n', 'seed', 'logprobs', 'top_logprobs'], clamp: { temperature: [0, 1] } },
      traits: { ...reasoningContent, thinking: thinking.zhipu },
      offers: [rerank('/rerank')],
    },
  ),
} as const satisfies Record<string, Provider>
