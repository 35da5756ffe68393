import type { Fields } from '../../lib/json/fields.ts'
import { milliseconds } from '../dialects/read-counts.ts'
import { reportedCost } from '../dialects/served-facts.ts'
import { type JobFacts, type JobReference, textOf, within } from './job-reference.ts'
import type { MadeVideo } from './video-cost.ts'

/** The request that began a video, and its answer. */
export interface BegunVideo {
  /** The path as it was sent, without its query. */
  readonly path: string
  readonly asked: Fields
  readonly answer: Fields
}

/** A video in its provider's answer. */
export interface ToldVideo {
  readonly ended: boolean
  /** The status in the provider's words. */
  readonly status: string
  /** Null: none was made. */
  readonly made: MadeVideo | null
}

/** An API that makes videos: where one that was begun can be read, and how. */
interface VideoApi {
  /** The paths that begin one: the provider has other jobs too, whose answers look alike. */
  readonly begins: RegExp
  /** Null: the answer names none. */
  readonly refer: (begun: BegunVideo) => JobReference | null
  /** Null: this is no video. */
  readonly read: (told: Fields, facts: JobFacts) => ToldVideo | null
}

const isId = (id: unknown): id is string => typeof id === 'string' && /^\w[\w.-]{0,199}$/.test(id)
/** Returns the part of a path before its videos: an API may be reached at another version of it. */
const before = (path: string): string => path.slice(0, path.lastIndexOf('/videos'))
const videos = /\/videos(?:\/(?:generations|edits|extensions)|\/[\w.-]+\/remix)?$/
const failed: ReadonlySet<string> = new Set(['failed', 'expired', 'cancelled'])
const ended = (status: string, done: string): boolean => status === done || failed.has(status)

/** platform.openai.com/docs/api-reference/videos; Azure has the same API. */
const openai: VideoApi = {
  begins: videos,
  refer: ({ path, answer: { id } }) => (isId(id) && id.startsWith('video_') ? { path: `${before(path)}/videos/${id}`, facts: {} } : null),
  read: ({ status, model, seconds, size }) =>
    typeof status === 'string'
      ? {
          ended: ended(status, 'completed'),
          status,
          made: status === 'completed' ? { ...nothingKnown, model: textOf(model), size: textOf(size), length: msOf(seconds) } : null,
        }
      : null,
}

const nothingKnown: MadeVideo = { model: undefined, size: undefined, length: 0, images: 0, reported: null }
const msOf = (seconds: unknown): number => milliseconds(Number(seconds))

/** docs.x.ai/docs/guides/video-generation: 480p unless the request asks for more; a video that is made of another has the size of that one. */
const xai: VideoApi = {
  begins: videos,
  refer: ({ path, asked, answer: { request_id: id } }) =>
    isId(id)
      ? {
          path: `${before(path)}/videos/${id}`,
          facts: {
            ...factOf('model', asked['model']),
            ...factOf('size', asked['resolution'] ?? (path.endsWith('/generations') ? '480p' : undefined)),
            ...factOf('images', String(picturesOf(asked))),
          },
        }
      : null,
  read(told, { model, size, images }) {
    const { status, usage } = told
    if (typeof status !== 'string') return null
    const made = {
      model: textOf(told['model']) ?? model,
      size,
      length: size === undefined ? 0 : msOf(within(told, 'video')['duration']),
      images: Number(images ?? 0),
      reported: usage === undefined ? null : reportedCost(within(told, 'usage'), 'x-ai'),
    }
    return { ended: ended(status, 'done'), status, made: status === 'done' ? made : null }
  },
}

const factOf = (name: keyof JobFacts, value: unknown): JobFacts => (textOf(value) === undefined ? {} : { [name]: textOf(value) })

/** The pictures that a request brings, which some models are paid for too. */
const picturesOf = ({ image, image_url: url, reference_images: references }: Fields): number =>
  (image === undefined && url === undefined ? 0 : 1) + (Array.isArray(references) ? references.length : 0)

/** docs.together.ai/reference/get-videos-id: the answer names the cost. */
const together: VideoApi = {
  begins: videos,
  refer: ({ path, answer: { id } }) => (isId(id) ? { path: `${before(path)}/videos/${id}`, facts: {} } : null),
  read(told, facts) {
    const video = openai.read(told, facts)
    const reported = reportedCost(within(told, 'outputs'), 'openrouter')
    return video === null || video.made === null ? video : { ...video, made: { ...video.made, reported } }
  },
}

/** openrouter.ai/docs/api_reference/videos: the answer names the cost, but not the properties of the video. */
const openrouter: VideoApi = {
  begins: videos,
  refer: ({ path, asked, answer: { id } }) =>
    isId(id) ? { path: `${before(path)}/videos/${id}`, facts: factOf('model', asked['model']) } : null,
  read(told, { model }) {
    const { status } = told
    if (typeof status !== 'string') return null
    const made = { ...nothingKnown, model, reported: reportedCost(within(told, 'usage'), 'openrouter') }
    return { ended: ended(status, 'completed'), status, made: status === 'completed' ? made : null }
  },
}

/**
 * ai.google.dev/gemini-api/docs/video, cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation: the answer does not repeat
 * the request.
 */
function veoFacts({ path, asked }: BegunVideo): JobFacts {
  const { durationSeconds, resolution } = within(asked, 'parameters')
  const [, model] = /\/models\/([^/:]+):/.exec(path) ?? []
  return { ...factOf('model', model), ...factOf('seconds', durationSeconds ?? usualSeconds), ...factOf('size', resolution ?? usualSize) }
}

const veo = /\/models\/[^/:]+:predictLongRunning$/
const isOperation = (name: unknown): name is string => typeof name === 'string' && /\/operations\/[\w-]+$/.test(name)
const usualSeconds = 8
const usualSize = '720p'

/** Videos that were held back are not charged: delivered ones are counted. A finished job with neither is no video. */
function readVeo(told: Fields, { model, size, seconds }: JobFacts): ToldVideo | null {
  if (!isOperation(told['name'])) return null
  if (told['done'] !== true) return { ended: false, status: 'running', made: null }
  if (told['error'] !== undefined) return { ended: true, status: 'failed', made: null }
  const response = within(told, 'response')
  const inner = within(response, 'generateVideoResponse')
  const samples = response['videos'] ?? inner['generatedSamples']
  const held = response['raiMediaFilteredCount'] ?? inner['raiMediaFilteredCount']
  if (!Array.isArray(samples) && held === undefined) return null
  const count = Array.isArray(samples) ? samples.length : 0
  if (count === 0) return { ended: true, status: 'held back', made: null }
  return { ended: true, status: 'done', made: { ...nothingKnown, model, size, length: count * msOf(seconds) } }
}

const google: VideoApi = {
  begins: veo,
  refer(begun) {
    const { name } = begun.answer
    const version = /^\/v1[\w]*(?=\/)/.exec(begun.path)?.[0] ?? ''
    return isOperation(name) ? { path: `${version}/${name}`, facts: veoFacts(begun) } : null
  },
  read: readVeo,
}

const vertex: VideoApi = {
  begins: veo,
  refer(begun) {
    const { name } = begun.answer
    const path = begun.path.replace(/:predictLongRunning$/, ':fetchPredictOperation')
    return isOperation(name) ? { path, facts: { ...veoFacts(begun), operation: name } } : null
  },
  read: readVeo,
}

const apis: Readonly<Record<string, VideoApi>> = {
  openai,
  'azure-openai': openai,
  'azure-ai': openai,
  'x-ai': xai,
  'together-ai': together,
  openrouter,
  google,
  'vertex-ai': vertex,
}

/** Returns the API by which a provider makes videos; null: Gatehouse does not use it, or has no price. */
export const videoApiOf = (provider: string): VideoApi | null => apis[provider] ?? null

/** Returns how the video is noted that a request began; null: it began another job, or none of which the price is known. */
export function referToVideo(provider: string, begun: BegunVideo): JobReference | null {
  const api = videoApiOf(provider)
  return api?.begins.test(begun.path) === true ? api.refer(begun) : null
}
