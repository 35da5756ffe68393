import { answered, asked, type PartnerFixture, redacted } from './fixture.ts'

const apiKey = 'partner-key'
const credentials = { apiKey }
const bearer = { authorization: `Bearer ${apiKey}` }
const pangea = { apiKey, domain: 'aws.us.pangea.cloud' }
const service = { apiKey, baseURL: 'https://guardrails.acme.test/v1', apiKeyHeader: 'x-guard-key' }
const result = (pass: boolean, more: object = {}) => ({
  results: [{ status: 'success', evaluation_result: { pass, score_raw: 0.5, ...more } }],
})
const good = { status: 'success', score: 100, evaluationResults: [] }
const bad = { status: 'failed', score: 0, evaluationResults: [{ type: 't', results: [{ name: 'n', flagged: true }] }] }

const patronus = (name: string, evaluator: object, changed?: PartnerFixture['changed']): PartnerFixture => ({
  id: `patronus.${name}`,
  phase: 'output',
  parameters: { credentials },
  url: 'https://api.patronus.ai/v1/evaluate',
  headers: { 'x-api-key': apiKey },
  body: { evaluators: [{ explain_strategy: 'never', ...evaluator }], evaluated_model_input: asked, evaluated_model_output: answered },
  pass: result(true),
  fail: result(false),
  ...(changed !== undefined && { changed }),
})
const judge = (name: string, criteria: string) => patronus(name, { evaluator: 'judge', criteria: `patronus:${criteria}` })
const spans = {
  parameters: { redact: true },
  answer: result(false, { additional_info: { positions: [[0, 5]] } }),
  text: '[REDACTED] from the emulator.',
}

const qualifire = (name: string, phase: 'input' | 'output', body: object, parameters: object = {}): PartnerFixture => ({
  id: `qualifire.${name}`,
  phase,
  parameters: { ...parameters, credentials },
  url: 'https://api.qualifire.ai/api/v1/evaluation/evaluate',
  headers: { 'x-qualifire-api-key': apiKey },
  body: { input: asked, ...(phase === 'output' && { output: answered }), ...body },
  pass: good,
  fail: bad,
})

const promptfoo = (name: string, answers: Pick<PartnerFixture, 'pass' | 'fail' | 'changed'>): PartnerFixture => ({
  id: `promptfoo.${name}`,
  phase: 'input',
  parameters: {},
  url: `https://api.promptfoo.dev/v1/${name}`,
  headers: {},
  body: { input: asked },
  ...answers,
})
const flagged = (name: string, is: boolean) => ({
  model: name,
  results: [{ categories: { [name]: is }, category_scores: {}, flagged: is }],
})
const numberAt = { entity_type: 'phone_number', start: 11, end: 19, pii: '555-0100' }
const withPhone = { results: [{ categories: { pii: true }, flagged: true, payload: { pii: [numberAt] } }] }

const hosted = (
  name: string,
  path: string,
  parameters: object,
  answers: Pick<PartnerFixture, 'pass' | 'fail' | 'changed'>,
): PartnerFixture => ({
  id: `service.${name}`,
  phase: 'input',
  parameters: { ...parameters, credentials: service },
  url: `https://guardrails.acme.test/v1${path}`,
  headers: { 'x-guard-key': apiKey },
  body: { input: asked },
  ...answers,
})
const personal = [{ processed_text: redacted, entities: [{ text: '555-0100', labels: { PHONE_NUMBER: 0.9 } }] }]

/** Partners from M to Z. */
export const fixturesFromMToZ: readonly PartnerFixture[] = [
  {
    id: 'mistral.moderateContent',
    phase: 'input',
    parameters: { categories: ['law', 'pii'], credentials },
    url: 'https://api.mistral.ai/v1/moderations',
    headers: bearer,
    body: { model: 'mistral-moderation-latest', input: [asked] },
    pass: { results: [{ categories: { law: false, pii: false, sexual: true } }] },
    fail: { results: [{ categories: { law: false, pii: true } }] },
  },
  {
    id: 'pangea.textGuard',
    phase: 'input',
    parameters: { recipe: 'r', debug: true, overrides: { prompt_guard: { state: 'malicious' } }, credentials: pangea },
    url: 'https://ai-guard.aws.us.pangea.cloud/v1/text/guard',
    headers: bearer,
    body: { text: asked, recipe: 'r', debug: true, overrides: { prompt_guard: { state: 'malicious' } } },
    pass: { result: { blocked: false, detectors: { pii_entity: { detected: true }, prompt_injection: { detected: false } } } },
    fail: { result: { blocked: false, detectors: { prompt_injection: { detected: true } } } },
  },
  {
    id: 'pangea.pii',
    phase: 'input',
    parameters: { credentials: pangea },
    url: 'https://redact.aws.us.pangea.cloud/v1/redact',
    headers: bearer,
    body: { text: asked },
    pass: { result: { count: 0, redacted_text: asked } },
    fail: { result: { count: 1, redacted_text: redacted } },
    changed: { parameters: { redact: true }, answer: { result: { count: 1, redacted_text: redacted } }, text: redacted },
  },
  {
    id: 'panw-prisma-airs.intercept',
    phase: 'input',
    parameters: { profile_name: 'dev', app_name: 'a', credentials: { AIRS_API_KEY: apiKey } },
    url: 'https://service.api.aisecurity.paloaltonetworks.com/v1/scan/sync/request',
    headers: { 'x-pan-token': apiKey },
    body: {
      ai_profile: { profile_name: 'dev' },
      metadata: { ai_model: 'unknown-model', app_user: 'gatehouse', app_name: 'a' },
      contents: [{ prompt: asked }],
    },
    pass: { action: 'allow', category: 'benign', prompt_detected: { injection: false } },
    fail: { action: 'block', category: 'malicious', prompt_detected: { injection: true } },
  },
  patronus('phi', { evaluator: 'phi' }, spans),
  patronus('pii', { evaluator: 'pii' }, spans),
  judge('isConcise', 'is-concise'),
  judge('isHelpful', 'is-helpful'),
  judge('isPolite', 'is-polite'),
  judge('noApologies', 'no-apologies'),
  judge('noGenderBias', 'no-gender-bias'),
  judge('noRacialBias', 'no-racial-bias'),
  patronus('retrievalAnswerRelevance', { evaluator: 'retrieval-answer-relevance' }),
  patronus('retrievalHallucination', { evaluator: 'hallucination', criteria: 'patronus:hallucination' }),
  patronus('toxicity', { evaluator: 'toxicity' }),
  { ...patronus('custom', { evaluator: 'judge', criteria: 'mine' }), parameters: { profile: 'mine', credentials } },
  {
    id: 'pillar.scanPrompt',
    phase: 'input',
    parameters: { scanners: ['pii', 'secrets'], credentials },
    url: 'https://api.pillarseclabs.com/api/v1/scan/prompt',
    headers: bearer,
    body: { message: asked, scanners: { pii: true, secrets: true } },
    pass: { pii: false, secrets: null, toxic_language: true },
    fail: { pii: true, secrets: null },
  },
  {
    id: 'pillar.scanResponse',
    phase: 'output',
    parameters: { credentials },
    url: 'https://api.pillarseclabs.com/api/v1/scan/response',
    headers: bearer,
    body: { message: answered, scanners: { pii: true, secrets: true, toxic_language: true } },
    pass: { pii: false, secrets: false, toxic_language: false },
    fail: { pii: false, secrets: [{ type: 'key' }], toxic_language: false },
  },
  promptfoo('guard', { pass: flagged('jailbreak', false), fail: flagged('jailbreak', true) }),
  promptfoo('pii', {
    pass: flagged('pii', false),
    fail: withPhone,
    changed: { parameters: { redact: true }, answer: withPhone, text: 'Call me on [REDACTED], please.' },
  }),
  promptfoo('harm', { pass: flagged('hate', false), fail: flagged('hate', true) }),
  {
    id: 'promptsecurity.protectPrompt',
    phase: 'input',
    parameters: { credentials: { apiDomain: 'eu.prompt.security', apiKey } },
    url: 'https://eu.prompt.security/api/protect',
    headers: { 'app-id': apiKey },
    body: { prompt: asked },
    pass: { status: 'success', result: { prompt: { action: 'log', violations: [] } } },
    fail: { status: 'success', result: { prompt: { action: 'block', violations: ['Prompt Injection'] } } },
    changed: { answer: { result: { prompt: { action: 'modify', modified_text: redacted } } }, text: redacted },
  },
  {
    id: 'promptsecurity.protectResponse',
    phase: 'output',
    parameters: { credentials: { apiDomain: 'eu.prompt.security', apiKey } },
    url: 'https://eu.prompt.security/api/protect',
    headers: { 'app-id': apiKey },
    body: { response: answered },
    pass: { result: { response: { action: 'log' } } },
    fail: { result: { response: { action: 'block' } } },
    changed: { answer: { result: { response: { action: 'modify', modified_text: 'Hello.' } } }, text: 'Hello.' },
  },
  qualifire('contentModeration', 'input', { content_moderation_check: true }),
  qualifire('hallucinations', 'output', { hallucinations_check: true, hallucinations_mode: 'speed' }, { mode: 'speed' }),
  qualifire('pii', 'output', { pii_check: true }),
  qualifire('promptInjections', 'input', { prompt_injections: true }),
  qualifire('grounding', 'output', { grounding_check: true, grounding_mode: 'balanced' }),
  qualifire(
    'policy',
    'input',
    { assertions: ['No discounts.'], assertions_mode: 'quality', policy_target: 'input' },
    { policies: ['No discounts.'], mode: 'quality' },
  ),
  {
    ...qualifire('toolUseQuality', 'output', {}),
    body: {
      messages: [
        { role: 'user', content: asked },
        { role: 'assistant', content: answered },
      ],
      available_tools: [],
      tool_use_quality_check: true,
      tuq_mode: 'balanced',
    },
  },
  hosted(
    'moderateContent',
    '/moderations',
    { categories: ['hate', 'violence'] },
    { pass: { results: [{ categories: { sexual: true, hate: false } }] }, fail: { results: [{ categories: { violence: true } }] } },
  ),
  hosted(
    'language',
    '/language',
    { language: ['eng_Latn'] },
    { pass: [[{ label: 'eng_Latn', score: 0.9 }]], fail: [[{ label: 'deu_Latn', score: 0.9 }]] },
  ),
  hosted(
    'pii',
    '/pii',
    { categories: ['PHONE_NUMBER'] },
    {
      pass: [{ processed_text: asked, entities: [] }],
      fail: personal,
      changed: { parameters: { redact: true }, answer: personal, text: redacted },
    },
  ),
  hosted('gibberish', '/gibberish', {}, { pass: [[{ label: 'clean', score: 1 }]], fail: [[{ label: 'noise', score: 1 }]] }),
  {
    id: 'sydelabs.sydeguard',
    phase: 'input',
    parameters: { toxicity_threshold: 0.8, credentials },
    url: 'https://guard.sydelabs.ai/api/v1/guard/generate-score',
    headers: { 'x-api-key': apiKey },
    body: { prompt: asked },
    pass: {
      category_scores: [
        { category: 'TOXIC', score: 0.8 },
        { category: 'OTHER', score: 1 },
      ],
    },
    fail: { category_scores: [{ category: 'TOXIC', score: 0.81 }] },
  },
  {
    id: 'walledai.walledprotect',
    phase: 'input',
    parameters: { generic_safety_check: 'true', compliance_list: ['Legal'], credentials },
    url: 'https://services.walled.ai/v1/walled-protect',
    headers: { 'x-api-key': apiKey },
    body: {
      text: [{ role: 'user', content: asked }],
      generic_safety_check: true,
      greetings_list: ['Casual & Friendly'],
      compliance_list: ['Legal'],
    },
    pass: { success: true, data: { safety: [{ safety: 'generic', isSafe: true }], pii: [{ pii_type: 'Address', isPresent: true }] } },
    fail: { success: true, data: { safety: [{ safety: 'generic', isSafe: false }] } },
  },
  {
    id: 'zscaler.zscalerprotect',
    phase: 'output',
    parameters: { policyId: '42', credentials: { zscalerApiKey: apiKey } },
    url: 'https://api.zseclipse.net/v1/detection/execute-policy',
    headers: bearer,
    body: { policyId: '42', direction: 'OUT', content: answered },
    pass: { action: 'ALLOW', detectorResponses: {} },
    fail: { action: 'BLOCK', detectorResponses: { toxicity: { triggered: true, action: 'BLOCK' } } },
  },
]
