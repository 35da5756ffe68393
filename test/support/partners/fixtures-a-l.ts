import { answered, asked, type PartnerFixture, redacted } from './fixture.ts'

const apiKey = 'partner-key'
const credentials = { apiKey }
const bearer = { authorization: `Bearer ${apiKey}` }
const token = `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify({ opaque: { 'apex-url': 'https://apex.acuvity.test' } })).toString('base64url')}.x`
const azure = { resourceName: 'acme', apiKey }
const azureHost = 'https://acme.cognitiveservices.azure.com'
const azureKey = { 'ocp-apim-subscription-key': apiKey }
const nothing = { attackDetected: false }
const found = { results: { documents: [{ id: '0', redactedText: redacted, entities: [{ category: 'PhoneNumber', text: '555-0100' }] }] } }
const aws = { awsAccessKeyId: 'AKIDEXAMPLE', awsSecretAccessKey: 'secret', awsRegion: 'eu-west-1' }
const phone = { sensitiveInformationPolicy: { piiEntities: [{ type: 'PHONE', match: '555-0100', action: 'ANONYMIZED' }] } }

/** Partners from A to L. */
export const fixturesFromAToL: readonly PartnerFixture[] = [
  {
    id: 'acuvity.scan',
    phase: 'input',
    parameters: { credentials: { apiKey: token }, toxic_threshold: 0.7, pii_categories: ['phone_number'] },
    url: 'https://apex.acuvity.test/_acuvity/scan',
    headers: { authorization: `Bearer ${token}` },
    body: { anonymization: 'FixedSize', messages: [asked], redactions: [], type: 'Input' },
    pass: {
      extractions: [{ data: asked, topics: { 'content/TOXIC': 0.6 }, exploits: { PROMPT_INJECTION: 0.1 }, languages: { english: 1 } }],
    },
    fail: { extractions: [{ data: asked, topics: { 'content/TOXIC': 0.7 } }] },
    changed: {
      parameters: { pii_redact: true },
      answer: { extractions: [{ data: redacted, PIIs: { phone_number: 1 } }] },
      text: redacted,
    },
  },
  {
    id: 'aporia.validateProject',
    phase: 'input',
    parameters: { projectID: 'a/b', credentials },
    url: 'https://gr-prd.aporia.com/a%2Fb/validate',
    headers: { 'x-aporia-api-key': apiKey },
    body: { messages: [{ role: 'user', content: asked }], validation_target: 'prompt' },
    pass: { action: 'passthrough', revised_response: '' },
    fail: { action: 'modify', revised_response: 'x' },
  },
  {
    id: 'azure.contentSafety',
    phase: 'output',
    parameters: { credentials: { contentSafety: azure }, severity: 4, categories: ['Hate', 'Violence'] },
    url: `${azureHost}/contentsafety/text:analyze?api-version=2024-09-01`,
    headers: azureKey,
    body: { text: answered, categories: ['Hate', 'Violence'], blocklistNames: [] },
    pass: { categoriesAnalysis: [{ category: 'Hate', severity: 2 }], blocklistsMatch: [] },
    fail: { categoriesAnalysis: [{ category: 'Hate', severity: 4 }] },
  },
  {
    id: 'azure.pii',
    phase: 'input',
    parameters: { credentials: { pii: azure } },
    url: `${azureHost}/language/:analyze-text?api-version=2024-11-01`,
    headers: azureKey,
    body: {
      kind: 'PiiEntityRecognition',
      parameters: { domain: 'none', modelVersion: 'latest' },
      analysisInput: { documents: [{ id: '0', language: 'en', text: asked }] },
    },
    pass: { results: { documents: [{ id: '0', redactedText: asked, entities: [] }] } },
    fail: found,
    changed: { parameters: { redact: true }, answer: found, text: redacted },
  },
  {
    id: 'azure.shieldPrompt',
    phase: 'input',
    parameters: { credentials: { contentSafety: azure } },
    url: `${azureHost}/contentsafety/text:shieldPrompt?api-version=2024-09-01`,
    headers: azureKey,
    body: { userPrompt: asked, documents: [] },
    pass: { userPromptAnalysis: nothing, documentsAnalysis: [] },
    fail: { userPromptAnalysis: { attackDetected: true }, documentsAnalysis: [nothing] },
  },
  {
    id: 'azure.protectedMaterial',
    phase: 'output',
    parameters: { credentials: { contentSafety: azure } },
    url: `${azureHost}/contentsafety/text:detectProtectedMaterial?api-version=2024-09-01`,
    headers: azureKey,
    body: { text: answered.repeat(10) },
    pass: { protectedMaterialAnalysis: { detected: false } },
    fail: { protectedMaterialAnalysis: { detected: true } },
  },
  {
    id: 'bedrock.guard',
    phase: 'input',
    parameters: { guardrailId: 'gr1', guardrailVersion: '2', credentials: aws },
    url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/guardrail/gr1/version/2/apply',
    headers: { authorization: /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, / },
    body: { source: 'INPUT', content: [{ text: { text: asked } }] },
    pass: { action: 'NONE', outputs: [], assessments: [{}] },
    fail: {
      action: 'GUARDRAIL_INTERVENED',
      outputs: [{ text: 'no' }],
      assessments: [{ topicPolicy: { topics: [{ action: 'BLOCKED' }] } }],
    },
    changed: {
      parameters: { redact: true },
      answer: { action: 'GUARDRAIL_INTERVENED', outputs: [{ text: redacted }], assessments: [phone] },
      text: redacted,
    },
  },
  {
    id: 'crowdstrike-aidr.guardChatCompletions',
    phase: 'input',
    parameters: { credentials: { apiKey, baseUrl: 'https://api.crowdstrike.test/aidr/aiguard' } },
    url: 'https://api.crowdstrike.test/aidr/aiguard/v1/guard_chat_completions',
    headers: bearer,
    body: { guard_input: { messages: [{ role: 'user', content: asked }] }, event_type: 'input', llm_provider: 'openai', model: 'm' },
    pass: { status: 'Success', result: { blocked: false, transformed: false, policy: 'p' } },
    fail: { status: 'Success', result: { blocked: true, transformed: false, policy: 'p' } },
    changed: {
      parameters: { redact: true },
      answer: {
        result: { blocked: false, transformed: true, policy: 'p', guard_output: { messages: [{ role: 'user', content: redacted }] } },
      },
      text: redacted,
    },
  },
  {
    id: 'f5-guardrails.scan',
    phase: 'input',
    parameters: { projectId: 'p1', credentials },
    url: 'https://us1.calypsoai.app/backend/v1/scans',
    headers: bearer,
    body: { input: asked, project: 'p1' },
    pass: { id: '1', result: { outcome: 'cleared', scannerResults: [] } },
    fail: { id: '1', result: { outcome: 'flagged', scannerResults: [{ scannerId: 's', outcome: 'failed' }] } },
    changed: { parameters: { redact: true }, answer: { redactedInput: redacted, result: { outcome: 'redacted' } }, text: redacted },
  },
  {
    id: 'javelin.guardrails',
    phase: 'input',
    parameters: { credentials: { apiKey, application: 'app' } },
    url: 'https://api-dev.javelin.live/v1/guardrails/apply',
    headers: { 'x-javelin-apikey': apiKey, 'x-javelin-application': 'app' },
    body: { input: { text: asked } },
    pass: { assessments: [{ trustsafety: { results: { categories: { violence: false } }, request_reject: false } }] },
    fail: { assessments: [{ trustsafety: { results: { categories: { violence: true } }, request_reject: true } }] },
  },
  {
    id: 'lasso.classify',
    phase: 'output',
    parameters: { conversationId: 'c1', userId: 'u1', credentials },
    url: 'https://server.lasso.security/gateway/v3/classify',
    headers: { 'lasso-api-key': apiKey, 'lasso-conversation-id': 'c1', 'lasso-user-id': 'u1' },
    body: { messages: [{ role: 'assistant', content: answered }], messageType: 'COMPLETION' },
    pass: { violations_detected: false, deputies: { jailbreak: false } },
    fail: { violations_detected: true, deputies: { jailbreak: true } },
  },
]
