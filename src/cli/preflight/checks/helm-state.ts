import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fail, ok, warn, type Check, type Verdict } from '../check.ts'
import { parseHistory, type Revision } from '../helm-history.ts'
import { NotPossible } from '../not-possible.ts'
import type { Circumstances } from '../stage.ts'

type Release = NonNullable<Circumstances['helmRelease']>

/** Checks that no interrupted upgrade left the Helm release locked. */
export const helmStateCheck: Check = {
  id: 'helm-state',
  about:
    'No install, upgrade or rollback of the Helm release was cut off: Helm would refuse the next one ("another operation is in progress").',
  remedy: 'Roll back to the last revision that was deployed: `helm rollback RELEASE REVISION`. Never uninstall for this.',
  quick: false,
  async run({ circumstances }) {
    const release = circumstances.helmRelease ?? { name: 'RELEASE', namespace: null }
    return judgeHistory(circumstances.helmHistory ?? (await askHelm(circumstances)), release)
  },
}

async function askHelm({ helmRelease }: Circumstances): Promise<readonly Revision[]> {
  if (helmRelease === null)
    throw new NotPossible('the Helm release is not known: give --helm-release where helm can be run, or else --helm-history')
  const { name, namespace } = helmRelease
  const history = parseHistory(await runHelm(['history', name, ...namespaceFlag(namespace), '-o', 'json']))
  if (history === null) throw new NotPossible('the Helm history has not the form of "helm history RELEASE -o json"')
  return history
}

async function runHelm(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('helm', args, { timeout: 15_000 })).stdout
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') throw new NotPossible('helm is not on the PATH')
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw new NotPossible(`helm does not tell: ${said}`)
  }
}

const namespaceFlag = (namespace: string | null): readonly string[] => (namespace === null ? [] : ['-n', namespace])

/** The verdict on a release's revisions, oldest first. */
export function judgeHistory(history: readonly Revision[], { name, namespace }: Release): Verdict {
  const last = history.at(-1)
  if (last === undefined) return ok(`there is no release ${name} yet`)
  const helm = (...words: readonly string[]) => ['helm', ...words, ...namespaceFlag(namespace)].join(' ')
  const good = history.findLast(({ status }) => status === 'deployed' || status === 'superseded')
  const back = good === undefined ? null : helm('rollback', name, String(good.revision))
  const state = `revision ${last.revision} of ${name} (${last.chart}) is ${last.status}`
  if (last.status.startsWith('pending-')) {
    const lock = `kubectl delete secret sh.helm.release.v1.${name}.v${last.revision}${namespace === null ? '' : ` -n ${namespace}`}`
    return fail(`${state}: it was cut off, and Helm refuses the next one`, `Make sure that no helm runs, then: ${back ?? lock}`)
  }
  if (last.status === 'uninstalling') return fail(state, `Wait until it is gone, or: ${helm('uninstall', name)}`)
  if (last.status === 'failed')
    return warn(state, `Find out why (${helm('history', name)}); the next upgrade may go ahead${back === null ? '' : `, or: ${back}`}`)
  return ok(state)
}
