import Together from 'together-ai'
import { oracleClient } from '../../sides/oracle.ts'
import { cohereAt, invoke, key, onDemand, type VendorProofs, voyageAt } from './clients.ts'

const order = ['1 0.9', '0 0.1']
const asked = { query: 'sun?', documents: ['rain', 'It shines.'] }
export const rerank: VendorProofs = {
  cohere: [
    {
      title: 'an order',
      async ask(origin) {
        const { results } = await cohereAt(origin).rerank({ model: 'rerank-v3.5', ...asked, topN: 2, maxTokensPerDoc: 100 })
        return results.map(({ index, relevanceScore }) => `${index} ${relevanceScore}`)
      },
      said: order,
    },
  ],
  voyage: [
    {
      title: 'an order',
      async ask(origin) {
        const { data = [] } = await voyageAt(origin).rerank({ model: 'rerank-2.5', ...asked, topK: 2, truncation: true })
        return data.map(({ index, relevanceScore }) => `${index} ${relevanceScore}`)
      },
      said: order,
    },
  ],
  together: [
    {
      title: 'an order',
      async ask(origin) {
        const client = new Together({ baseURL: `${origin}/together/v1`, apiKey: key, maxRetries: 0 })
        const { results } = await client.rerank.create({ model: 'Salesforce/Llama-Rank-V1', ...asked, top_n: 2, return_documents: false })
        return results.map(({ index, relevance_score: score }) => `${index} ${score}`)
      },
      said: order,
    },
  ],
  'bedrock-cohere': [
    {
      title: 'an order',
      async ask(origin) {
        const body = { ...asked, top_n: 2, api_version: 2 }
        const found = await invoke<{ results: { index: number; relevance_score: number }[] }>(origin, 'cohere.rerank-v3-5:0', body)
        return found.results.map(({ index, relevance_score: score }) => `${index} ${score}`)
      },
      said: order.toReversed(),
    },
  ],
  'bedrock-amazon': [
    {
      title: 'an order',
      async ask(origin) {
        const body = { ...asked, top_n: 2 }
        const found = await invoke<{ results: { index: number; relevance_score: number }[] }>(origin, 'amazon.rerank-v1:0', body)
        return found.results.map(({ index, relevance_score: score }) => `${index} ${score}`)
      },
      said: order.toReversed(),
    },
  ],
  oracle: [
    {
      title: 'an order',
      async ask(origin) {
        const details = { ...onDemand('cohere.rerank.v3-5'), input: asked.query, documents: asked.documents, topN: 2 }
        const answer = await oracleClient(origin).rerankText({ rerankTextDetails: details })
        return answer.rerankTextResult.documentRanks.map(({ index, relevanceScore }) => `${index} ${relevanceScore}`)
      },
      said: order,
    },
  ],
}
