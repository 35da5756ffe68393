import { audio } from './audio.ts'
import type { VendorProofs } from './clients.ts'
import { counts } from './counts.ts'
import { embeddings } from './embeddings.ts'
import { images } from './images.ts'
import { moderations } from './moderations.ts'
import { rerank } from './rerank.ts'

/** The proofs of each area. */
export const vendorProofs: Readonly<Record<string, VendorProofs>> = { embeddings, rerank, images, audio, moderations, counts }

const passedOn = 'goes on as it is'
const noClient = 'has no client of its own for Node'
const ofClaude = "is asked by Anthropic's client, which proves it in conversations, and counts at a model of its own"

/** Why the emulator of a provider is not proven here. */
export const unproven: Readonly<Record<string, string>> = {
  'embeddings/jina': noClient,
  'embeddings/nomic': noClient,
  'embeddings/workers': noClient,
  'embeddings/workers-own': noClient,
  'rerank/jina': noClient,
  'rerank/azure': "is Cohere's",
  'rerank/vertex': 'has a client that speaks gRPC alone',
  'rerank/workers': noClient,
  'images/openai': passedOn,
  'images/bedrock-inpaint': "is another model of Stability's, in the same words",
  'images/stability': noClient,
  'images/stability-edit': noClient,
  'images/workers': noClient,
  'images/fireworks': noClient,
  'images/hyperbolic': noClient,
  'images/segmind': noClient,
  'images/xai': noClient,
  'images/replicate': "is proven by Replicate's client in conversations",
  'audio/openai': passedOn,
  'audio/aura': noClient,
  'audio/whisper': noClient,
  'audio/whisper-turbo': noClient,
  'moderations/openai': passedOn,
  'counts/vertex-claude': ofClaude,
  'counts/others': 'is not asked',
}
