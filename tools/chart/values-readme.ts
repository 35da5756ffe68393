import { isSection, type Leaf, type Tree } from './node.ts'

interface Row {
  readonly name: string
  readonly leaf: Leaf
}

const start = '<!-- values:start -->'
const end = '<!-- values:end -->'

/** The chart's README with its table of values renewed; null stays null, since the rest is written by hand. */
export function withValues(readme: string | null, tree: Tree): string {
  const text = readme ?? '# app\n'
  const marked = text.includes(start) && text.includes(end) ? text : `${text.trimEnd()}\n\n${start}\n${end}\n`
  return `${marked.slice(0, marked.indexOf(start) + start.length)}\n${tables(tree)}\n${marked.slice(marked.indexOf(end))}`
}

/** One table of the values at the top, and one for each section. */
function tables(tree: Tree): string {
  const single = Object.entries(tree).flatMap(([name, node]) => (isSection(node) ? [] : [{ name, leaf: node }]))
  const sections = Object.entries(tree).flatMap(([name, node]) => (isSection(node) ? [{ name, node }] : []))
  return [
    ...sections.map(({ name, node }) => `### \`${name}\`\n\n${node.desc}\n\n${table(rows(node.of, name))}`),
    `### Others\n\n${table(single)}`,
  ].join('\n\n')
}

const rows = (tree: Tree, prefix: string): readonly Row[] =>
  Object.entries(tree).flatMap(([name, node]) =>
    isSection(node) ? rows(node.of, `${prefix}.${name}`) : [{ name: `${prefix}.${name}`, leaf: node }],
  )

const table = (list: readonly Row[]) => ['| Value | Default | What it does |', '| --- | --- | --- |', ...list.map(line)].join('\n')

const line = ({ name, leaf }: Row) => `| ${[`\`${name}\``, shown(leaf), leaf.desc].map(cell).join(' | ')} |`

const shown = ({ otherwise }: Leaf) => (otherwise === undefined || otherwise === '' ? '' : `\`${JSON.stringify(otherwise)}\``)

const cell = (text: string) => text.replaceAll('|', String.raw`\|`)
