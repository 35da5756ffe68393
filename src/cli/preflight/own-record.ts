import { readOwnTable } from '../../app/level/release-records.ts'
import { version } from '../../config/version.ts'
import type { ReleaseRecord } from '../../release/record.ts'
import { findRelease } from '../../release/table.ts'

/** The record of the release that runs; null when this build is no recorded release. */
export const readOwnRecord = (): ReleaseRecord | null => findRelease(readOwnTable(), version())
