import { Readable, finished } from 'node:stream'
import { ApiError } from '../../lib/errors.ts'

/**
 * A stream for undici to consume and destroy in place of the caller's. undici destroys a request body when the exchange fails or is
 * answered early; when that body is the caller's own request, its connection would go with it, and the answer could not be sent.
 * Ours stops reading instead, and leaves the source paused.
 */
export function detachBody(source: NodeJS.ReadableStream): Readable {
  const body = new Readable({
    highWaterMark: 64 * 1024,
    read: () => void source.resume(),
    destroy(error, done) {
      source.off('data', onData)
      stopWatching()
      source.pause()
      done(error)
    },
  })
  const onData = (chunk: Buffer) => {
    if (!body.push(chunk)) source.pause()
  }
  const stopWatching = finished(source, { writable: false }, (error) => {
    if (error instanceof ApiError) body.destroy(error)
    else if (error) body.destroy(new ApiError('client_closed', 'The request body broke off before its end.', { cause: error }))
    else body.push(null)
  })
  // Errors of the source after the exchange are its owner's affair, and must not end the process.
  source.on('error', () => {})
  source.on('data', onData)
  return body
}
