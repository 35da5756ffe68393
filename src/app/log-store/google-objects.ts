import { randomUUID } from 'node:crypto'
import type { ObjectApi } from './object-store.ts'

/**
 * Returns the requests of Google's JSON API for objects of a bucket. One request holds an object and its metadata, so that the store refuses half an
 * object.
 */
export const googleObjects = (bucket: string): ObjectApi => ({
  put(key, object, digest) {
    const boundary = randomUUID()
    const said = JSON.stringify({ name: key, contentType: 'application/json', ...(digest !== null && { md5Hash: digest }) })
    const part = `--${boundary}\r\ncontent-type: application/json\r\n\r\n`
    return {
      method: 'POST',
      path: `/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?uploadType=multipart`,
      headers: ['content-type', `multipart/related; boundary=${boundary}`],
      body: Buffer.concat([Buffer.from(`${part}${said}\r\n${part}`), object, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    }
  },
  get: (key) => `/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(key)}?alt=media`,
})
