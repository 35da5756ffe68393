/** Elements whose content no reader sees. */
const silent: ReadonlySet<string> = new Set(['head', 'style', 'script', 'title'])
/** Tags that end a line. */
const breaks: ReadonlySet<string> = new Set(['br', '/p', '/div', '/h1', '/h2', '/h3', '/h4', '/h5', '/h6', '/li', '/tr', '/table'])

/** Returns the content of the first element with this name, which has no attributes; empty: there is none. */
export function elementText(html: string, name: string): string {
  const lower = html.toLowerCase()
  const opening = lower.indexOf(`<${name}>`)
  const start = opening + name.length + 2
  const end = opening === -1 ? -1 : lower.indexOf(`</${name}>`, start)
  return end === -1 ? '' : html.slice(start, end)
}

/** A tag, and the text before it. */
interface TagWithText {
  readonly before: string
  /** Lower case, with the slash of one that closes; empty: it is no tag of letters. */
  readonly name: string
  readonly tag: string
}

/** Returns the text of HTML, its entities as they are, with the addresses of links behind their labels. Takes time linear in its length. */
export function textIn(html: string): string {
  const parts: string[] = []
  let link: { readonly href: string; readonly from: number } | null = null
  for (const { before, name, tag } of tagsOf(html)) {
    parts.push(before)
    if (breaks.has(name)) parts.push('\n')
    if (name === 'a') link = { href: /\bhref="([^"]*)"/i.exec(tag)?.[1] ?? '', from: parts.length }
    if (name !== '/a' || link === null) continue
    parts.push(withAddress(parts.splice(link.from).join(''), link.href))
    link = null
  }
  return parts.join('')
}

/** Returns the tags one after the other, without the elements whose content no reader sees; the last holds what stands behind all of them. */
function* tagsOf(html: string): Generator<TagWithText> {
  const lower = html.toLowerCase()
  const unclosed = new Set<string>()
  let at = 0
  for (let opening = html.indexOf('<'); opening !== -1; opening = html.indexOf('<', at)) {
    const closing = html.indexOf('>', opening)
    if (closing === -1) break
    const [, name = ''] = /^(\/?[a-z][a-z0-9]{0,9})(?![a-z0-9])/.exec(lower.slice(opening + 1, opening + 14)) ?? []
    yield { before: html.slice(at, opening), name, tag: html.slice(opening, closing) }
    at = closing + 1
    if (!silent.has(name) || unclosed.has(name)) continue
    const end = lower.indexOf(`</${name}>`, at)
    if (end === -1) unclosed.add(name)
    else at = end + name.length + 3
  }
  yield { before: html.slice(at), name: '', tag: '' }
}

const withAddress = (label: string, href: string): string => {
  if (href === '') return label
  return label.includes(href) ? href : `${label} (${href})`
}
