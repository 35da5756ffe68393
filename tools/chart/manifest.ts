import { parseDocument, stringify } from 'yaml'
import { noteLines, type BuildContents } from '../../src/release/notes.ts'
import { findRelease, type ReleaseTable } from '../../src/release/table.ts'
import { isSection, type Node, type Tree } from './node.ts'

/** The sources of a manifest. */
interface ManifestSources {
  readonly table: ReleaseTable
  readonly tree: Tree
  readonly built: BuildContents
}

/** Chart.yaml with its generated fields renewed; all other fields are written by hand. */
export function withManifest(manifest: string | null, { table, tree, built }: ManifestSources): string {
  const chart = table.charts.at(-1)
  const release = chart === undefined ? null : findRelease(table, chart.appVersion)
  // The rules about the records report a newest chart that deploys no release.
  if (chart === undefined || release === null) return manifest ?? ''
  const document = parseDocument(manifest ?? 'apiVersion: v2\nname: app\n')
  const image = { name: 'gatehouse', image: defaultImage(tree, release.version) }
  const { security, breaking } = release
  const changes = [
    ...breaking.map(({ id, fix }) => ({ kind: 'changed', description: `Breaking (${id}): ${fix}` })),
    ...security.map((description) => ({ kind: 'security', description })),
    ...noteLines(release, built).map((description) => ({ kind: 'changed', description })),
  ]
  document.set('version', chart.version)
  document.set('appVersion', release.version)
  document.set('kubeVersion', `${release.kubernetes}.0-0`)
  document.set('annotations', {
    'artifacthub.io/images': stringify([image], { lineWidth: 0 }),
    'artifacthub.io/changes': stringify(changes, { lineWidth: 0 }),
    'artifacthub.io/containsSecurityUpdates': String(security.length > 0),
    'artifacthub.io/prerelease': 'false',
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** The image that the chart renders by default. */
export function defaultImage(tree: Tree, release: string): string {
  const given = (name: string) => textAt(tree['image'], name)
  const repository = [given('registry'), given('namespace'), given('name')].filter(Boolean).join('/')
  return `${repository}:${given('tag') || release}${given('digest') === '' ? '' : `@${given('digest')}`}`
}

function textAt(node: Node | undefined, name: string): string {
  const child = node !== undefined && isSection(node) ? node.of[name] : undefined
  return child !== undefined && !isSection(child) && typeof child.otherwise === 'string' ? child.otherwise : ''
}
