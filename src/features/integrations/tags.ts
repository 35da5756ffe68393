import { ApiError } from '../../lib/errors.ts'
import type { Level } from '../../release/level.ts'

/** Refuses tags where an older release, to which this installation may still go back, would not know them. */
export function demandTags(level: Pick<Level, 'release' | 'atLeast'>, tags: unknown): void {
  if (tags === undefined || level.atLeast('1.7.3')) return
  throw new ApiError('AB01', `Tags come with a later release. The level of this installation is ${level.release}.`, { param: 'tags' })
}
