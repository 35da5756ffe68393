import { Ollama } from 'ollama'
import { oracleClient } from '../../sides/oracle.ts'
import {
  cohereAt,
  geminiAt,
  huggingfaceAt,
  invoke,
  mistralAt,
  onDemand,
  openaiAt,
  type VendorProofs,
  vertexAt,
  voyageAt,
} from './clients.ts'

const texts = ['a text', 'another']
const vectors = ['6 0.5 -0.25', '7 0.5 -0.25']
const vectorLine = (values: ArrayLike<number> | undefined): string => Array.from(values ?? []).join(' ')

export const embeddings: VendorProofs = {
  openai: [
    {
      title: 'vectors of a length',
      async ask(origin) {
        const { data } = await openaiAt(`${origin}/openai`).embeddings.create({ model: 'm', input: texts, dimensions: 3, user: 'u' })
        return data.map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors,
    },
  ],
  mistral: [
    {
      title: 'vectors of a length',
      async ask(origin) {
        const { data } = await mistralAt(origin).embeddings.create({
          model: 'codestral-embed',
          inputs: texts,
          outputDimension: 3,
          outputDtype: 'float',
        })
        return data.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0)).map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors,
    },
  ],
  voyage: [
    {
      title: 'vectors for a question',
      async ask(origin) {
        const { data = [] } = await voyageAt(origin).embed({
          model: 'voyage-3.5',
          input: texts,
          inputType: 'query',
          truncation: true,
          outputDimension: 256,
        })
        return data.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0)).map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors,
    },
  ],
  cohere: [
    {
      title: 'vectors for documents',
      async ask(origin) {
        const { embeddings: found } = await cohereAt(origin).embed({
          model: 'embed-v4.0',
          texts,
          inputType: 'search_document',
          embeddingTypes: ['float'],
          outputDimension: 256,
          truncate: 'END',
        })
        return (found.float ?? []).map(vectorLine)
      },
      said: vectors,
    },
  ],
  google: [
    {
      title: 'vectors for a question',
      async ask(origin) {
        const config = { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 256 }
        const found = await geminiAt(origin).models.embedContent({ model: 'gemini-embedding-001', contents: texts, config })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors,
    },
  ],
  predict: [
    {
      title: 'vectors for documents',
      async ask(origin) {
        const config = { taskType: 'RETRIEVAL_DOCUMENT', title: 'A title', outputDimensionality: 256, autoTruncate: true }
        const found = await vertexAt(origin).models.embedContent({ model: 'text-embedding-005', contents: texts, config })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors,
    },
  ],
  'predict-one': [
    {
      title: 'a vector',
      async ask(origin) {
        const found = await vertexAt(origin).models.embedContent({ model: 'gemini-embedding-001', contents: texts.slice(0, 1) })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors.slice(0, 1),
    },
  ],
  'embed-content': [
    {
      title: 'a vector of a length',
      async ask(origin) {
        const config = { outputDimensionality: 256 }
        const found = await vertexAt(origin).models.embedContent({ model: 'gemini-embedding-2-preview', contents: 'a text', config })
        return (found.embeddings ?? []).map(({ values }) => vectorLine(values))
      },
      said: vectors.slice(0, 1),
    },
  ],
  titan: [
    {
      title: 'a vector',
      async ask(origin) {
        const body = { inputText: 'a text', dimensions: 256, normalize: true }
        return [vectorLine((await invoke<{ embedding: number[] }>(origin, 'amazon.titan-embed-text-v2:0', body)).embedding)]
      },
      said: vectors.slice(0, 1),
    },
  ],
  nova: [
    {
      title: 'a vector',
      async ask(origin) {
        const found = await invoke<{ embeddings: { embedding: number[] }[] }>(origin, 'amazon.nova-2-multimodal-embeddings-v1:0', {
          taskType: 'SINGLE_EMBEDDING',
          singleEmbeddingParams: {
            embeddingPurpose: 'GENERIC_INDEX',
            embeddingDimension: 256,
            text: { truncationMode: 'END', value: 'a text' },
          },
        })
        return found.embeddings.map(({ embedding }) => vectorLine(embedding))
      },
      said: vectors.slice(0, 1),
    },
  ],
  'bedrock-cohere': [
    {
      title: 'vectors',
      async ask(origin) {
        const body = { texts, input_type: 'search_document', embedding_types: ['float'] }
        return (await invoke<{ embeddings: { float: number[][] } }>(origin, 'cohere.embed-v4:0', body)).embeddings.float.map(vectorLine)
      },
      said: vectors,
    },
  ],
  oracle: [
    {
      title: 'vectors for a question',
      async ask(origin) {
        const inputType = 'SEARCH_QUERY' as never
        const details = { ...onDemand('cohere.embed-v4.0'), inputs: texts, inputType, outputDimensions: 256 }
        const answer = await oracleClient(origin).embedText({ embedTextDetails: details })
        return (answer.embedTextResult.embeddings ?? []).map(vectorLine)
      },
      said: vectors,
    },
  ],
  ollama: [
    {
      title: 'vectors',
      async ask(origin) {
        const asking = { model: 'nomic-embed-text', input: texts, truncate: true, keep_alive: '5m', dimensions: 3 }
        return (await new Ollama({ host: `${origin}/ollama` }).embed(asking)).embeddings.map(vectorLine)
      },
      said: vectors,
    },
  ],
  huggingface: [
    {
      title: 'vectors',
      async ask(origin) {
        const found = await huggingfaceAt(origin, 'feature-extraction').featureExtraction({
          model: 'sentence-transformers/all-MiniLM-L6-v2',
          provider: 'hf-inference',
          inputs: texts,
          normalize: true,
        })
        return (found as number[][]).map(vectorLine)
      },
      said: vectors,
    },
  ],
}
