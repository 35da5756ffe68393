import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, sumOf } from '../neutral/token-usage.ts'
import { servingFields } from '../oracle/serving-mode.ts'
import { compatibleProviders } from './compatible.ts'
import { googlePurposes } from './google-client.ts'
import type { EmbeddingProvider } from './neutral.ts'
import { dropRest, memberOf, purposeFor, refuseDimensions, vectorIn, vectorsIn } from './reading.ts'

const coherePurposes = {
  query: 'search_query',
  document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
} as const

/** docs.cohere.com/reference/embed: the purpose is needed. On Bedrock the path names the model. */
const cohere: EmbeddingProvider = {
  most: 96,
  encode(request, context) {
    const { loss, model, traits } = context
    const { truncate, ...rest } = request.rest
    dropRest({ ...request, rest }, context)
    const purpose = purposeFor(request, coherePurposes, context)
    if (purpose === null) loss.note('input_type=search_document')
    return {
      ...(traits.host === 'own' && { model }),
      texts: request.inputs,
      input_type: purpose ?? 'search_document',
      embedding_types: ['float'],
      ...(request.dimensions !== null && { output_dimension: request.dimensions }),
      ...(truncate !== undefined && { truncate }),
    }
  },
  decode(json) {
    const embeddings = memberOf(json, 'embeddings')
    const vectors = vectorsIn(memberOf(embeddings, 'float') ?? embeddings)
    const tokens = countOf(memberOf(memberOf(memberOf(json, 'meta'), 'billed_units'), 'input_tokens'))
    return vectors === null ? null : { vectors, tokens }
  },
}

const longestModel = 512

/** ai.google.dev/api/embeddings. */
const google: EmbeddingProvider = {
  most: 100,
  encode(request, context) {
    dropRest(request, context, true)
    const shared = googleFields(request, purposeFor(request, googlePurposes, context))
    // The name stands beside each of the inputs.
    if (context.model.length > longestModel) context.loss.refuseAt('model', `is longer than ${longestModel} characters`)
    const model = `models/${context.model}`
    return { requests: request.inputs.map((text) => ({ model, content: { parts: [{ text }] }, ...shared })) }
  },
  decode(json) {
    const embeddings = memberOf(json, 'embeddings')
    const vectors = Array.isArray(embeddings) ? vectorsIn(embeddings.map((one: unknown) => memberOf(one, 'values'))) : null
    const tokens = countOf(memberOf(memberOf(json, 'usageMetadata'), 'promptTokenCount'))
    return vectors === null ? null : { vectors, tokens }
  },
}

function googleFields(request: { readonly title: string | null; readonly dimensions: number | null }, taskType: string | null): Fields {
  const { title, dimensions } = request
  return {
    ...(taskType !== null && { taskType }),
    ...(title !== null && { title }),
    ...(dimensions !== null && { outputDimensionality: dimensions }),
  }
}

/** Models of Gemini on Vertex AI after the first: one content per call. */
const vertex: EmbeddingProvider = {
  most: 1,
  encode(request, context) {
    dropRest(request, context, true)
    const config = googleFields(request, purposeFor(request, googlePurposes, context))
    return {
      content: { role: 'user', parts: request.inputs.map((text) => ({ text })) },
      ...(Object.keys(config).length > 0 && { embedContentConfig: config }),
    }
  },
  decode(json) {
    const vector = vectorIn(memberOf(memberOf(json, 'embedding'), 'values'))
    const tokens = countOf(memberOf(memberOf(json, 'usageMetadata'), 'promptTokenCount'))
    return vector === null ? null : { vectors: [vector], tokens }
  },
}

/** docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api. */
const predict = (most: number): EmbeddingProvider => ({
  most,
  encode(request, context) {
    dropRest(request, context, true)
    const { inputs, title, dimensions } = request
    const task = purposeFor(request, googlePurposes, context)
    const shared = { ...(task !== null && { task_type: task }), ...(title !== null && { title }) }
    return {
      instances: inputs.map((content) => Object.assign({ content }, shared)),
      ...(dimensions !== null && { parameters: { outputDimensionality: dimensions } }),
    }
  },
  decode(json) {
    const predictions = memberOf(json, 'predictions')
    if (!Array.isArray(predictions)) return null
    const embeddings = predictions.map((one: unknown) => memberOf(one, 'embeddings'))
    const vectors = vectorsIn(embeddings.map((one) => memberOf(one, 'values')))
    const tokens = sumOf(...embeddings.map((one) => countOf(memberOf(memberOf(one, 'statistics'), 'token_count'))))
    return vectors === null ? null : { vectors, tokens }
  },
})

/** docs.aws.amazon.com/bedrock, Titan's embeddings: one text per call, and only the second version has a length to choose. */
const titan: EmbeddingProvider = {
  most: 1,
  encode(request, context) {
    const { normalize, ...rest } = request.rest
    dropRest({ ...request, rest }, context)
    purposeFor(request, {}, context)
    const isSecond = context.model.includes('titan-embed-text-v2')
    if (!isSecond) refuseDimensions(request, context)
    return {
      inputText: request.inputs[0],
      ...(request.dimensions !== null && { dimensions: request.dimensions }),
      ...(isSecond && normalize !== undefined && { normalize }),
    }
  },
  decode(json) {
    const vector = vectorIn(memberOf(json, 'embedding'))
    return vector === null ? null : { vectors: [vector], tokens: countOf(memberOf(json, 'inputTextTokenCount')) }
  },
}

const novaPurposes = { query: 'TEXT_RETRIEVAL', document: 'GENERIC_INDEX', classification: 'CLASSIFICATION', clustering: 'CLUSTERING' }

/** docs.aws.amazon.com/nova, embeddings: one text per call. */
const nova: EmbeddingProvider = {
  most: 1,
  encode(request, context) {
    dropRest(request, context)
    const purpose = purposeFor(request, novaPurposes, context)
    if (purpose === null) context.loss.note('embeddingPurpose=GENERIC_INDEX')
    return {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: purpose ?? 'GENERIC_INDEX',
        ...(request.dimensions !== null && { embeddingDimension: request.dimensions }),
        text: { truncationMode: 'END', value: request.inputs[0] },
      },
    }
  },
  decode(json) {
    const embeddings = memberOf(json, 'embeddings')
    const vector = Array.isArray(embeddings) ? vectorIn(memberOf(embeddings[0], 'embedding')) : null
    return vector === null ? null : { vectors: [vector], tokens: null }
  },
}

/** huggingface.co/docs/inference-providers/tasks/feature-extraction. */
const huggingface: EmbeddingProvider = {
  most: 128,
  encode(request, context) {
    const { normalize, truncate, prompt_name: prompt, ...rest } = request.rest
    dropRest({ ...request, rest }, context)
    purposeFor(request, {}, context)
    refuseDimensions(request, context)
    return {
      inputs: request.inputs,
      ...(normalize !== undefined && { normalize }),
      ...(truncate !== undefined && { truncate }),
      ...(prompt !== undefined && { prompt_name: prompt }),
    }
  },
  decode(json) {
    const vectors = vectorsIn(json)
    return vectors === null ? null : { vectors, tokens: null }
  },
}

/** docs.ollama.com/api/embed: `truncate`, `keep_alive` and `options` are its own. */
const ollama: EmbeddingProvider = {
  most: 512,
  encode(request, context) {
    dropRest(request, context)
    purposeFor(request, {}, context)
    return {
      model: context.model,
      input: request.inputs,
      ...(request.dimensions !== null && { dimensions: request.dimensions }),
    }
  },
  decode(json) {
    const vectors = vectorsIn(memberOf(json, 'embeddings'))
    return vectors === null ? null : { vectors, tokens: countOf(memberOf(json, 'prompt_eval_count')) }
  },
}

/** developers.cloudflare.com/workers-ai/models: answers are wrapped. */
const workers: EmbeddingProvider = {
  most: 100,
  encode(request, context) {
    const { pooling, ...rest } = request.rest
    dropRest({ ...request, rest }, context)
    purposeFor(request, {}, context)
    refuseDimensions(request, context)
    return { text: request.inputs, ...(pooling !== undefined && { pooling }) }
  },
  decode(json) {
    const result = memberOf(json, 'result')
    const vectors = vectorsIn(memberOf(result, 'data'))
    const tokens = countOf(memberOf(memberOf(result, 'usage'), 'prompt_tokens'))
    return vectors === null ? null : { vectors, tokens }
  },
}

const oraclePurposes = {
  query: 'SEARCH_QUERY',
  document: 'SEARCH_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
} as const

/** docs.oracle.com/iaas/api: EmbedTextDetails. */
const oracle: EmbeddingProvider = {
  most: 96,
  encode(request, context) {
    const { truncate, ...rest } = request.rest
    dropRest({ ...request, rest }, context)
    const purpose = purposeFor(request, oraclePurposes, context)
    return {
      ...servingFields(context.model, context.traits),
      inputs: request.inputs,
      ...(purpose !== null && { inputType: purpose }),
      ...(request.dimensions !== null && { outputDimensions: request.dimensions }),
      ...(typeof truncate === 'string' && { truncate: truncate.toUpperCase() }),
    }
  },
  decode(json) {
    const vectors = vectorsIn(memberOf(memberOf(json, 'embeddingsByType'), 'float') ?? memberOf(json, 'embeddings'))
    const usage = memberOf(json, 'usage')
    const tokens = countOf(memberOf(usage, 'promptTokens')) ?? countOf(memberOf(usage, 'totalTokens'))
    return vectors === null ? null : { vectors, tokens }
  },
}

/** docs.nomic.ai/reference/api/embed-text-v-1-embedding-text-post. */
const nomic: EmbeddingProvider = {
  most: 400,
  encode(request, context) {
    dropRest(request, context)
    const purpose = purposeFor(request, coherePurposes, context)
    return {
      model: context.model,
      texts: request.inputs,
      task_type: purpose ?? 'search_document',
      ...(request.dimensions !== null && { dimensionality: request.dimensions }),
    }
  },
  decode(json) {
    const vectors = vectorsIn(memberOf(json, 'embeddings'))
    const tokens = countOf(memberOf(memberOf(json, 'usage'), 'total_tokens'))
    return vectors === null ? null : { vectors, tokens }
  },
}

/** The formats in which providers make vectors, by dialect and, where a dialect has several, the form that a row names. */
export const embeddingProviders: Readonly<Record<string, EmbeddingProvider>> = {
  ...compatibleProviders,
  cohere,
  google,
  ollama,
  'google/embed-content': vertex,
  'google/predict': predict(5),
  'google/predict-one': predict(1),
  'bedrock/titan': titan,
  'bedrock/nova': nova,
  'embeddings/feature-extraction': huggingface,
  'embeddings/nomic': nomic,
  oracle,
  'workers-ai': workers,
}
