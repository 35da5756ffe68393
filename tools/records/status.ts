import { itemsOf, type Item } from '../../src/release/items.ts'
import type { Project } from '../../src/release/project.ts'

const kinds: readonly Item['kind'][] = ['feature', 'change', 'setting', 'field', 'preflight check', 'operation']

/** The table of `release status`: the implemented and pending entries of each release, by kind. */
export const statusLines = (project: Project): readonly string[] => {
  const releases = project.table.releases.map((release) => ({ release, items: itemsOf(release, project) }))
  return [
    ...releases.flatMap(({ release: { version, date }, items }) => [
      `${version} (${date}): ${tally(items)}`,
      ...kinds.flatMap((kind) =>
        rows(
          kind,
          items.filter((item) => item.kind === kind),
        ),
      ),
    ]),
    `all ${releases.length} releases: ${tally(releases.flatMap(({ items }) => items))}`,
  ]
}

function tally(items: readonly Item[]): string {
  if (items.length === 0) return 'nothing that code could prove'
  const done = items.filter(({ implemented }) => implemented).length
  return `${done} implemented, ${items.length - done} pending`
}

/** Settings and operations that are there are only counted, because their names fill pages. */
function rows(kind: Item['kind'], items: readonly Item[]): readonly string[] {
  const names = (implemented: boolean) => items.filter((item) => item.implemented === implemented).map(({ name }) => name)
  const [done, open] = [names(true), names(false)]
  const counted = kind === 'setting' || kind === 'operation' || kind === 'field'
  return [
    ...(done.length > 0 ? [row(kind, 'implemented', counted ? String(done.length) : done.join(', '))] : []),
    ...(open.length > 0 ? [row(kind, 'pending', open.join(', '))] : []),
  ]
}

const row = (kind: string, state: string, what: string) => `  ${kind.padEnd(15)}  ${state.padEnd(11)}  ${what}`
