// The documents are reached from docs/README.md, and no link in them leads nowhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')
const pages = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => path.join('docs', name))
const textOf = (page: string) => readFileSync(path.join(root, page), 'utf8')

/** The text of a page without its code. */
const prose = (page: string) =>
  textOf(page)
    .replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '')
    .replaceAll(/`[^`\n]*`/g, 'code')

/** The targets and pictures of a page, on this side of the network. */
const linksOf = (page: string) =>
  [...prose(page).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, markdown, html]) => markdown ?? html ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))

/** The names by which a page's headings are linked to. */
const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('docs/README.md links to every page', (t) => {
  const linked = new Set(linksOf('docs/README.md').map((link) => path.join('docs', link)))
  t.deepEqual(
    pages.filter((page) => page !== 'docs/README.md' && !linked.has(page)),
    [],
    'say in docs/README.md what question the page answers',
  )
})

test('docs/README.md lists the decisions in the order of their numbers', (t) => {
  const numbers = [...textOf('docs/README.md').matchAll(/^- \[ADR (\d+)\]\(adr\/(\d+)-/gm)].map(([, number, file]) => [
    Number(number),
    Number(file),
  ])
  t.deepEqual(
    numbers,
    numbers.toSorted(([a = 0], [b = 0]) => a - b),
  )
  t.true(numbers.every(([number, file]) => number === file))
})

test('every relative link of the documents leads to a file, and to a heading that it has', (t) => {
  const broken = [...pages, 'README.md', 'ARCHITECTURE.md'].flatMap((page) =>
    linksOf(page)
      .filter((link) => {
        const [file = '', anchor] = link.split('#')
        const target = file === '' ? page : path.join(path.dirname(page), file)
        return !existsSync(path.join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
      })
      .map((link) => `${page}: ${link}`),
  )
  t.deepEqual(broken, [])
})

test('a page links only to pages beside it: a release carries docs/ alone', (t) => {
  const outside = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !link.startsWith('#') && !path.join(path.dirname(page), link).startsWith('docs/'))
      .map((link) => `${page}: ${link}`),
  )
  t.deepEqual(outside, [])
})
