import { DistributionFault } from '../../src/distribution/fault.ts'
import { runStep } from './image/run.ts'

/** The revision from which a release is built. */
export interface Revision {
  /** Null: the sources are no checkout of git. */
  readonly commit: string | null
  /** True if the sources differ from the commit. */
  readonly dirty: boolean
  /** The label of the image: the commit, `<commit>-dirty`, or `unknown`. */
  readonly label: string
}

const dirtyEnding = '-dirty'

/** The revision of a label. */
export function revisionNamed(label: string): Revision {
  const dirty = label.endsWith(dirtyEnding)
  const commit = dirty ? label.slice(0, -dirtyEnding.length) : label
  return { commit: label === 'unknown' ? null : commit, dirty, label }
}

const named = 5

/** The commit of a checkout. Throws DistributionFault `sources_changed` when it has changes, and these are not allowed. */
export async function readRevision(
  root: string,
  { allowDirty, onStep }: { allowDirty: boolean; onStep: (text: string) => void },
): Promise<Revision> {
  const git = (...args: string[]) => runStep({ title: 'the revision', command: ['git', '-C', root, ...args] }).catch(() => null)
  const [commit, changes] = await Promise.all([git('rev-parse', 'HEAD'), git('status', '--porcelain')])
  if (commit === null || changes === null) {
    onStep('revision: unknown, because these sources are no checkout of git; image and provenance name no commit')
    return { commit: null, dirty: false, label: 'unknown' }
  }
  const files = changes
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(3))
  if (files.length === 0) return { commit: commit.trim(), dirty: false, label: commit.trim() }
  if (!allowDirty) throw new DistributionFault('sources_changed', changedMessage(files))
  onStep(`revision: ${files.length} changes that no commit holds; image and provenance say so`)
  return { commit: commit.trim(), dirty: true, label: `${commit.trim()}${dirtyEnding}` }
}

const changedMessage = (files: readonly string[]) =>
  `the checkout has changes that no commit holds (${files.slice(0, named).join(', ')}${files.length > named ? ` and ${files.length - named} more` : ''}). ` +
  'Commit them, or build with --allow-dirty, which marks the image and the provenance'
