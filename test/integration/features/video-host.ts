import type { Fields } from '../../../src/lib/json/fields.ts'

/** The videos of the provider, by id. */
export const videos = new Map<string, Fields>()

/** Returns a video in its provider's form. */
export const videoAs = (id: string, told: Fields): Fields => ({
  id,
  object: 'video',
  status: 'queued',
  model: 'sora-2-pro',
  seconds: '8',
  size: '1280x720',
  ...told,
})

/** Returns the provider's answer to a request about videos. */
export function videoAnswer(method: string, path: string) {
  if (method === 'POST') {
    const began = `video_${videos.size + 1}`
    videos.set(began, videoAs(began, {}))
    return { status: 200, body: JSON.stringify(videos.get(began)) }
  }
  const held = videos.get(/video_\w+/.exec(path)?.[0] ?? '')
  return held === undefined ? { status: 404, body: '{"error":{"message":"no such video"}}' } : { status: 200, body: JSON.stringify(held) }
}
