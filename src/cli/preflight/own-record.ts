import path from 'node:path'
import { findProjectPath } from '../../app/database/project-path.ts'
import { version } from '../../config/version.ts'
import type { ReleaseRecord } from '../../release/record.ts'
import { findRelease } from '../../release/table.ts'
import { readTable } from '../checkout.ts'

/** The record of the release that runs; null when the installation brings no records. */
export function readOwnRecord(): ReleaseRecord | null {
  const folder = findProjectPath('releases')
  return folder === null ? null : findRelease(readTable(path.dirname(folder)), version())
}
