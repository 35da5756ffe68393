import { isSection, type Leaf, type Node, type Schema, type Tree } from './node.ts'

/** values.schema.json, whole: draft-07, everything inlined, unknown keys refused wherever the keys are ours. */
export const valuesSchema = (tree: Tree): string =>
  `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of the chart app', ...objectSchema(tree, false) }, null, 2)}\n`

const objectSchema = (tree: Tree, open: boolean): Schema => ({
  type: 'object',
  ...(open ? {} : { additionalProperties: false }),
  properties: Object.fromEntries(Object.entries(tree).map(([name, node]) => [name, nodeSchema(node)])),
})

function nodeSchema(node: Node): Schema {
  if (isSection(node)) return { description: node.desc, ...objectSchema(node.of, node.open ?? false) }
  return { description: node.desc, ...leafSchema(node) }
}

/** Returns the schema of a leaf. Without a default Helm leaves a null in place; it means unset, as in any other layer of values. */
function leafSchema({ schema, otherwise }: Leaf): Schema {
  if (otherwise !== undefined) return { ...schema, default: otherwise }
  const { type, enum: words } = schema
  return {
    ...schema,
    type: [...(Array.isArray(type) ? type : [type]), 'null'],
    ...(Array.isArray(words) ? { enum: [...words, null] } : {}),
  }
}
