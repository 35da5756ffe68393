import { isMap, isScalar, parseDocument } from 'yaml'
import { isSection, type Tree } from './node.ts'

/** The values of this checkout's chart, and those that an earlier chart has. */
interface Trees {
  readonly all: Tree
  readonly cut: Tree
}

/** Returns a file of values, such as an example, without the values that an earlier chart does not have. A file that holds none of them stays as it is. */
export function cutValues(text: string, { all, cut }: Trees): string {
  const document = parseDocument(text)
  return removeLater(document.contents, all, cut) ? document.toString({ lineWidth: 0, flowCollectionPadding: true }) : text
}

/** Returns whether a value was removed. A value that neither tree contains is kept. */
function removeLater(values: unknown, all: Tree, cut: Tree): boolean {
  if (!isMap(values)) return false
  const later = values.items.filter(({ key }) => isScalar(key) && String(key.value) in all && !(String(key.value) in cut))
  values.items = values.items.filter((item) => !later.includes(item))
  const below = values.items.map(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : ''
    const [whole, part] = [all[name], cut[name]]
    return whole !== undefined && part !== undefined && isSection(whole) && isSection(part) && removeLater(value, whole.of, part.of)
  })
  return later.length > 0 || below.includes(true)
}
