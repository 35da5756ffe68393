import { ApiError } from '../../lib/errors.ts'
import type { Frame, FrameServices } from './frame.ts'

/** Returns the parts that need the database. Throws `dependency_unavailable` until they are ready, `sealed` without the right encryption key. */
export function demandRunning(frame: Pick<Frame, 'running'>): FrameServices {
  const running = frame.running()
  if (running === null) throw notYet()
  if (running.deps.vault.sealed !== null) {
    throw new ApiError('sealed', 'This server is sealed: its encryption key is missing or not the right one. See /readyz.')
  }
  return running
}

/** The answer to a request that needs the database while the process still waits for it. */
export const notYet = (): ApiError =>
  new ApiError('dependency_unavailable', 'This server is still starting: it waits for its database. See /readyz for the reason.', {
    retryAfter: 2,
  })
