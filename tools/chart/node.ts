/** A JSON Schema of draft-07, with everything inlined. */
export type Schema = Readonly<Record<string, unknown>>

/** One value of the chart. Without `otherwise` it is unset by default. */
export interface Leaf {
  readonly desc: string
  readonly schema: Schema
  readonly otherwise?: unknown
  /** The example in values.yaml, as a comment, when there is no default. */
  readonly example?: unknown
  /** The release that brought it; charts that were cut for earlier ones do not have it. */
  readonly since?: string
}

/** Values below one key. Unknown keys are refused, unless it is open. */
export interface Section {
  readonly desc: string
  readonly of: Tree
  readonly open?: boolean
  readonly since?: string
}

export type Node = Leaf | Section
export type Tree = Readonly<Record<string, Node>>

/** Distinguishes the two kinds of node. */
export const isSection = (node: Node): node is Section => 'of' in node

/** A key with values of its own below it. */
export const section = (desc: string, of: Tree): Section => ({ desc, of })

/** The values of a chart that has the additions of these releases. */
export const cutTree = (tree: Tree, has: (release: string) => boolean): Tree =>
  Object.fromEntries(
    Object.entries(tree).flatMap(([name, node]) => {
      if (node.since !== undefined && !has(node.since)) return []
      return [[name, isSection(node) ? { ...node, of: cutTree(node.of, has) } : node]]
    }),
  )

/** A value of any schema. */
export const leaf = (desc: string, schema: Schema, otherwise?: unknown): Leaf =>
  otherwise === undefined ? { desc, schema } : { desc, schema, otherwise }

export const text = (desc: string, otherwise = ''): Leaf => leaf(desc, { type: 'string' }, otherwise)

/** The name of an object in the cluster; empty: none. */
export const objectName = (desc: string, otherwise = ''): Leaf =>
  leaf(desc, { type: 'string', maxLength: 253, pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$' }, otherwise)

/** A key in a Secret or a ConfigMap; empty: none. */
export const dataKey = (desc: string, otherwise = ''): Leaf =>
  leaf(desc, { type: 'string', maxLength: 253, pattern: '^[A-Za-z0-9._-]*$' }, otherwise)

/** A file in the containers; empty: none. */
export const filePath = (desc: string): Leaf => leaf(desc, { type: 'string', pattern: '^(/.+)?$' }, '')

export const flag = (desc: string, otherwise: boolean): Leaf => leaf(desc, { type: 'boolean' }, otherwise)

export const integer = (desc: string, otherwise: number, minimum = 0): Leaf => leaf(desc, { type: 'integer', minimum }, otherwise)

export const choice = (desc: string, words: readonly string[], otherwise: string): Leaf =>
  leaf(desc, { type: 'string', enum: words }, otherwise)

/** An amount of storage that the templates can count with. */
export const storage = (desc: string, otherwise?: string): Leaf =>
  leaf(desc, { type: 'string', pattern: '^[1-9][0-9]*(Mi|Gi|Ti)$' }, otherwise)

/** Labels or annotations. */
export const strings = (desc: string, otherwise: Readonly<Record<string, string>> = {}): Leaf =>
  leaf(desc, { type: 'object', additionalProperties: { type: 'string' } }, otherwise)

/** A part of a Kubernetes object, which Kubernetes checks itself. */
export const kubernetes = (desc: string, otherwise: Readonly<Record<string, unknown>> = {}): Leaf =>
  leaf(desc, { type: 'object' }, otherwise)

/** A list of parts of Kubernetes objects. */
export const kubernetesList = (desc: string, otherwise: readonly unknown[] = []): Leaf =>
  leaf(desc, { type: 'array', items: { type: 'object' } }, otherwise)

/** An amount such as `250m` or `1Gi`, as Kubernetes writes it. */
const quantity: Schema = { type: ['string', 'number'], pattern: '^[0-9]+([.][0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$' }
const quantities: Schema = { type: 'object', additionalProperties: quantity }

/** Requests and limits of a container. */
export const resources = (desc: string, otherwise: Readonly<Record<string, unknown>>): Leaf =>
  leaf(
    desc,
    { type: 'object', properties: { requests: quantities, limits: quantities, claims: { type: 'array' } }, additionalProperties: false },
    otherwise,
  )

/** An address range. */
export const cidr: Schema = { type: 'string', pattern: '^([0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)/[0-9]{1,3}$' }

export const textList = (desc: string, otherwise: readonly string[] = []): Leaf =>
  leaf(desc, { type: 'array', items: { type: 'string' } }, otherwise)
