/** One place in a JSON text, with the places below it. */
export interface PlaceNode {
  /** The name of its value in the reports; null: only places below it have one. */
  readonly name: string | null
  /** True: only the presence of a text, an object or a list there is reported, and not its value. */
  readonly isMark: boolean
  /** The fields of an object; null: no place is below it. */
  readonly fields: ReadonlyMap<string, PlaceNode> | null
  /** The items of a list; null: none is a place. */
  readonly each: PlaceNode | null
}

interface TreeNode {
  name: string | null
  isMark: boolean
  fields: Map<string, TreeNode> | null
  each: TreeNode | null
}

const grow = (): TreeNode => ({ name: null, isMark: false, fields: null, each: null })

/** Returns the tree of places that are written as `response.output[*].type`, each with the name of its value. One that ends with `!` is a mark. */
export function placeTree(places: Readonly<Record<string, string>>): PlaceNode {
  const root = grow()
  for (const [path, name] of Object.entries(places)) {
    let node = root
    for (const step of path.replace(/!$/, '').replaceAll('[*]', '.*').split('.'))
      node = step === '*' ? (node.each ??= grow()) : fieldOf(node, step)
    node.name = name
    node.isMark = path.endsWith('!')
  }
  return root
}

function fieldOf(node: TreeNode, step: string): TreeNode {
  const fields = (node.fields ??= new Map())
  const held = fields.get(step) ?? grow()
  fields.set(step, held)
  return held
}
