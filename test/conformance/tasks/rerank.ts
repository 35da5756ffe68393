import { oracleCredential } from '../../support/dialects/oracle-credential.ts'
import { ranksStrictly } from '../../support/dialects/strict-rerank.ts'
import type { Lines } from '../talk.ts'
import { type Area, clouds, errorIn, plainError, type TaskAddress } from './area.ts'
import { cohereAt } from './clients.ts'

const texts = ['rain', 'It shines.']

async function ask(address: TaskAddress, more: object = {}): Promise<Lines> {
  const { results } = await cohereAt(address).rerank({ model: address.model, query: 'sun?', documents: texts, ...more })
  return results.map(({ index, relevanceScore, document }) =>
    document === undefined ? `${index} ${relevanceScore}` : `${index} ${relevanceScore} ${document.text}`,
  )
}

const order = ['1 0.9', '0 0.1']

export const rerank: Area = {
  title: 'Rerank',
  tasks: ['rerank'],
  unable: 'anthropic',
  serve: ranksStrictly,
  clients: {
    cohere: {
      title: "Cohere's rerank",
      refusedAs: '/rerank',
      cases: {
        texts: { ask: (address) => ask(address), heard: ['sun?', ...texts], said: order },
        objects: {
          ask: (address) =>
            ask(address, { documents: ['rain', { title: 'Sun', text: 'It shines.', rest: 'x' }], rankFields: ['title', 'text'] }),
          heard: ['rain', 'title: Sun\ntext: It shines.'],
          said: order,
        },
        'the best alone': { ask: (address) => ask(address, { topN: 1 }), heard: [1], said: order.slice(0, 1) },
        'with the documents': {
          ask: (address) => ask(address, { returnDocuments: true }),
          heard: texts,
          said: ['1 0.9 It shines.', '0 0.1 rain'],
        },
      },
    },
  },
  providers: {
    cohere: { title: 'Cohere', row: 'cohere', base: '/cohere', model: 'rerank-v3.5', format: 'cohere', error: errorIn('message') },
    voyage: { title: 'Voyage', row: 'voyage', base: '/voyage', model: 'rerank-2.5', format: 'cohere/voyage', error: errorIn('detail') },
    jina: { title: 'Jina', row: 'jina', base: '/jina', model: 'jina-reranker-v3', format: 'cohere/jina', error: errorIn('detail') },
    'bedrock-cohere': {
      ...clouds.bedrock,
      title: 'Bedrock, Cohere',
      base: '/bedrock',
      model: 'cohere.rerank-v3-5:0',
      format: 'cohere/bedrock',
    },
    'bedrock-amazon': {
      ...clouds.bedrock,
      title: 'Bedrock, Amazon',
      base: '/bedrock',
      model: 'amazon.rerank-v1:0',
      format: 'cohere/bedrock-amazon',
    },
    azure: {
      title: 'Azure AI Foundry',
      row: 'azure-ai',
      base: '/foundry/models',
      model: 'Cohere-rerank-v4.0',
      format: 'cohere',
      error: plainError,
    },
    together: {
      title: 'Together AI',
      row: 'together-ai',
      base: '/together',
      model: 'Salesforce/Llama-Rank-V1',
      format: 'cohere/plain',
      error: plainError,
    },
    oracle: {
      title: 'Oracle',
      row: 'oracle',
      credential: oracleCredential(),
      base: '',
      model: 'cohere.rerank.v3-5',
      format: 'oracle',
      error: errorIn('message'),
    },
    vertex: { ...clouds.vertex, title: 'Vertex AI', base: '', model: 'semantic-ranker-default-004', format: 'google/ranking' },
    workers: { ...clouds.workers, title: 'Workers AI', model: '@cf/baai/bge-reranker-base', format: 'workers-ai' },
  },
  departures: [],
}
