import { parentPort } from 'node:worker_threads'
import { readExamples } from './app/openapi/examples.ts'
import { openapiDocument } from './app/openapi/openapi.ts'
import { featuresOn } from './app/level/mount.ts'
import type { DescriptionAnswer, DescriptionOrder } from './app/openapi/describe.ts'
import { features } from './features/index.ts'
import { fixedLevel } from './release/level.ts'

/** Writes the API description, in a heap of its own, which goes with the thread. */
function written({ config, level, off, publicUrl }: DescriptionOrder): string {
  const about = { version: level, ...(off !== null && { off }), publicUrl, examples: readExamples() }
  return JSON.stringify(openapiDocument(featuresOn(features, { config, level: fixedLevel(level) }), about))
}

function answer(order: DescriptionOrder): DescriptionAnswer {
  try {
    return { id: order.id, text: written(order) }
  } catch (error) {
    return { id: order.id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

parentPort?.on('message', (order: DescriptionOrder) => parentPort?.postMessage(answer(order)))
