import { statSync } from 'node:fs'
import path from 'node:path'
import { journalFiles } from '../support-bundle/installation-sources.ts'
import { found, type Trouble } from './trouble.ts'

/** Examines the journal on disk. `running`: a process ships it. */
export function examineJournal(dataDir: string, { running }: { readonly running: boolean }): readonly Trouble[] {
  const rejected = statSync(path.join(dataDir, 'journal', 'rejected.bad'), { throwIfNoEntry: false })?.size ?? 0
  const segments = journalFiles(dataDir).filter(({ file, bytes }) => file.endsWith('.seg') && bytes > 0)
  const bytes = segments.reduce((total, segment) => total + segment.bytes, 0)
  return [
    ...(!running && bytes > 0
      ? [found('journal-orphans', 'warning', `${segments.length} files of ${Math.ceil(bytes / 1024)} KiB in ${dataDir}/journal`)]
      : []),
    ...(rejected > 0 ? [found('journal-rejected', 'warning', `${Math.ceil(rejected / 1024)} KiB in ${dataDir}/journal/rejected.bad`)] : []),
  ]
}
