import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { InferenceClient } from '@huggingface/inference'
import { Mistral } from '@mistralai/mistralai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { CohereClientV2 } from 'cohere-ai'
import OpenAI from 'openai'
import { VoyageAIClient } from 'voyageai'
import { oracleUser } from '../../../support/dialects/oracle-credential.ts'
import type { Lines } from '../../talk.ts'

/** A call of a vendor's own client, which proves that its emulator takes its requests and that it reads the answers. */
export interface VendorProof {
  readonly title: string
  readonly ask: (origin: string) => Promise<Lines>
  readonly said: Lines
}

/** The proofs of an area, by the provider. */
export type VendorProofs = Readonly<Record<string, readonly VendorProof[]>>

export const key = 'sk-upstream'
export const openaiAt = (origin: string): OpenAI => new OpenAI({ baseURL: origin, apiKey: key, maxRetries: 0 })
export const mistralAt = (origin: string): Mistral => new Mistral({ serverURL: `${origin}/mistral`, apiKey: key })
export const cohereAt = (origin: string): CohereClientV2 =>
  new CohereClientV2({ environment: `${origin}/cohere`, token: key, maxRetries: 0 })
export const voyageAt = (origin: string): VoyageAIClient => new VoyageAIClient({ environment: `${origin}/voyage`, apiKey: key })
export const geminiAt = (origin: string): GoogleGenAI => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${origin}/google` } })

/** The token of a workload, so that the client fetches none. */
const authClient = { getRequestHeaders: async () => new Headers({ authorization: 'Bearer token' }) }
export const vertexAt = (origin: string): GoogleGenAI =>
  new GoogleGenAI({
    vertexai: true,
    project: 'project',
    location: 'us-east5',
    googleAuthOptions: { authClient: authClient as never },
    httpOptions: { baseUrl: `${origin}/vertex` },
  })

export const bedrockAt = (origin: string): BedrockRuntimeClient =>
  new BedrockRuntimeClient({
    endpoint: `${origin}/bedrock`,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: new NodeHttpHandler(),
  })

/** Its client leaves the bodies of each family of models to the program: they are those of the family's documentation. */
export async function invoke<T>(origin: string, modelId: string, body: object): Promise<T> {
  const answer = await bedrockAt(origin).send(
    new InvokeModelCommand({ modelId, contentType: 'application/json', accept: 'application/json', body: JSON.stringify(body) }),
  )
  return JSON.parse(Buffer.from(answer.body).toString('utf8')) as T
}

/** Its client has one host, below which each provider of inference is named, and asks another one who serves a model. */
export const huggingfaceAt = (origin: string, task: string): InferenceClient =>
  new InferenceClient(key, {
    async fetch(input: string | URL | Request, init?: RequestInit) {
      const url = new URL(input instanceof Request ? input.url : input)
      if (url.host === 'router.huggingface.co') return fetch(`${origin}/hf${url.pathname}`, init)
      const providerId = url.pathname.slice('/api/models/'.length)
      return Response.json({ inferenceProviderMapping: { 'hf-inference': { status: 'live', providerId, task } } })
    },
  })

export const onDemand = (modelId: string) => ({
  compartmentId: oracleUser.tenancy,
  servingMode: { servingType: 'ON_DEMAND' as const, modelId },
})
