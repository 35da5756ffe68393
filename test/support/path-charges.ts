import { type Charged, claude } from './charges.ts'

const thousand = { input_tokens: 1000, output_tokens: 1000 }
const told = { ...claude(thousand), model: 'claude-sonnet-4-5-20250929' }
const untold = { ...claude(thousand), model: undefined }
const gemini = { candidates: [], usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 1000, totalTokenCount: 2000 } }
const converse = { output: {}, usage: { inputTokens: 1000, outputTokens: 1000, totalTokens: 2000 } }
const sonnet = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const none = { model: undefined, messages: [] }

const atVertex = (place: string) => `/v1/projects/p/locations/${place}/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`

/** The facts in the path of a request: the model, and the place where it runs. claude-sonnet-4-5: 3.00, out 15.00; in a region 1.1 times that. */
export const pathCharges: Readonly<Record<string, Charged>> = {
  'the model that the path of Converse names': {
    provider: 'bedrock',
    model: sonnet,
    path: `/v1/proxy/model/global.${sonnet}/converse`,
    body: none,
    answer: converse,
    amount: '18000000000',
  },
  'the same without the word proxy, in a region': {
    provider: 'bedrock',
    model: sonnet,
    path: `/v1/model/us.${sonnet}/converse`,
    body: none,
    answer: converse,
    amount: '19800000000',
  },
  'the same as an escaped ARN': {
    provider: 'bedrock',
    model: sonnet,
    path: `/v1/model/${encodeURIComponent(`arn:aws:bedrock:us-east-1:1:inference-profile/global.${sonnet}`)}/converse`,
    body: none,
    answer: converse,
    amount: '18000000000',
  },
  'a body that names a cheaper model than the path of Converse': {
    provider: 'bedrock',
    model: 'amazon.nova-micro-v1:0',
    path: `/v1/proxy/model/global.${sonnet}/converse`,
    body: { messages: [] },
    answer: converse,
    amount: '18000000000',
  },
  'a global profile at Invoke, whose answer leaves the place out': {
    provider: 'bedrock',
    model: sonnet,
    path: `/v1/proxy/model/global.${sonnet}/invoke`,
    body: none,
    answer: told,
    amount: '18000000000',
  },
  'a profile of a geography at Invoke': {
    provider: 'bedrock',
    model: sonnet,
    path: `/v1/proxy/model/eu.${sonnet}/invoke`,
    body: none,
    answer: told,
    amount: '19800000000',
  },
  'Claude at Vertex AI in a region that the path names': {
    provider: 'vertex-ai',
    model: 'claude-sonnet-4-5@20250929',
    path: atVertex('us-east5'),
    body: none,
    answer: told,
    amount: '19800000000',
  },
  'Claude at Vertex AI everywhere': {
    provider: 'vertex-ai',
    model: 'claude-sonnet-4-5@20250929',
    path: atVertex('global'),
    body: none,
    answer: untold,
    amount: '18000000000',
  },
  // 1.25, out 10.00
  'a body that names a cheaper model than the path of Gemini': {
    provider: 'google',
    model: 'gemini-2.5-flash-lite',
    path: '/v1beta/models/gemini-2.5-pro:generateContent',
    body: { contents: [] },
    answer: gemini,
    amount: '11250000000',
  },
  'the same below the word proxy': {
    provider: 'google',
    model: 'gemini-2.5-flash-lite',
    path: '/v1/proxy/v1beta/models/gemini-2.5-pro:generateContent',
    body: { contents: [] },
    answer: gemini,
    amount: '11250000000',
  },
  // 4.375, out 21.875
  'a tier by a header, which the answer does not tell': {
    provider: 'bedrock-priority',
    model: 'amazon.nova-premier-v1:0',
    path: '/v1/proxy/model/amazon.nova-premier-v1:0/converse',
    body: none,
    answer: converse,
    amount: '26250000000',
  },
  'the same, where the answer tells another': {
    provider: 'bedrock-priority',
    model: 'amazon.nova-premier-v1:0',
    path: '/v1/proxy/model/amazon.nova-premier-v1:0/converse',
    body: none,
    answer: { ...converse, serviceTier: { type: 'default' } },
    amount: '15000000000',
  },
  'a tier by a header of a model without a price for it': {
    provider: 'bedrock-priority',
    model: sonnet,
    path: `/v1/proxy/model/global.${sonnet}/converse`,
    body: none,
    answer: converse,
    state: 'partly_priced',
    amount: '18000000000',
  },
}
