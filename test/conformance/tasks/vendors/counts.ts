import Anthropic from '@anthropic-ai/sdk'
import { CountTokensCommand } from '@aws-sdk/client-bedrock-runtime'
import { bedrockAt, geminiAt, key, openaiAt, type VendorProofs, vertexAt } from './clients.ts'

const user = { role: 'user' as const, content: 'a sun' }
const contents = [{ role: 'user', parts: [{ text: 'a sun' }] }]

export const counts: VendorProofs = {
  anthropic: [
    {
      title: 'a count',
      async ask(origin) {
        const client = new Anthropic({ baseURL: `${origin}/anthropic`, apiKey: key, maxRetries: 0 })
        const found = await client.messages.countTokens({ model: 'claude-sonnet-4-5', system: 'Be brief.', messages: [user] })
        return [String(found.input_tokens)]
      },
      said: ['7'],
    },
  ],
  google: [
    {
      title: 'a count',
      async ask(origin) {
        const found = await geminiAt(origin).models.countTokens({ model: 'gemini-2.5-flash', contents })
        return [String(found.totalTokens)]
      },
      said: ['7'],
    },
  ],
  'vertex-gemini': [
    {
      title: 'a count with instructions',
      async ask(origin) {
        const config = { systemInstruction: 'Be brief.' }
        const found = await vertexAt(origin).models.countTokens({ model: 'gemini-2.5-flash', contents, config })
        return [String(found.totalTokens)]
      },
      said: ['7'],
    },
  ],
  openai: [
    {
      title: 'a count',
      async ask(origin) {
        const found = await openaiAt(`${origin}/v1`).responses.inputTokens.count({
          model: 'gpt-5',
          instructions: 'Be brief.',
          input: 'a sun',
        })
        return [String(found.input_tokens)]
      },
      said: ['7'],
    },
  ],
  bedrock: [
    {
      title: 'a count',
      async ask(origin) {
        const input = { converse: { messages: [{ role: 'user' as const, content: [{ text: 'a sun' }] }], system: [{ text: 'Be brief.' }] } }
        const modelId = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
        return [String((await bedrockAt(origin).send(new CountTokensCommand({ modelId, input }))).inputTokens)]
      },
      said: ['7'],
    },
  ],
}
