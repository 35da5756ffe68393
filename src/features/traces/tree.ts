/** A node before it has its place in the tree. */
export interface Leaf {
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly startMs: number
  /** Requests and failures that it stands for itself. */
  readonly requests: number
  readonly errors: number
  readonly costPico: bigint
  /** Tokens that count by themselves, and those that count if no node below has any. */
  readonly tokens: number
  readonly toldTokens: number
}

export interface Sums {
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  readonly costPico: bigint
}

export interface PlacedNode<Node extends Leaf> {
  readonly node: Node
  readonly depth: number
  readonly parentReceived: boolean
  readonly sums: Sums
}

interface Place<Node extends Leaf> {
  readonly node: Node
  readonly parent: Place<Node> | null
  readonly depth: number
  readonly parentReceived: boolean
  sums: Sums
}

/**
 * Returns the nodes as a tree, in reading order. Clients choose the ids: the first of several nodes with one id has the children, and a circle begins
 * at its earliest node.
 */
export function arrange<Node extends Leaf>(given: readonly Node[]): readonly PlacedNode<Node>[] {
  const nodes = given.toSorted((one, other) => one.startMs - other.startMs)
  const byId = new Map<string, Node>()
  for (const node of nodes) if (!byId.has(node.spanId)) byId.set(node.spanId, node)
  const parentOf = (node: Node) => {
    const parent = node.parentSpanId === null ? undefined : byId.get(node.parentSpanId)
    return parent === node ? undefined : parent
  }
  const children = Map.groupBy(nodes, parentOf)
  const placed: Place<Node>[] = []
  const seen = new Set<Node>()
  const place = (root: Node) => {
    const waiting = [{ node: root, parent: null as Place<Node> | null }]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { node, parent } = next
      if (seen.has(node)) continue
      seen.add(node)
      const own: Place<Node> = {
        node,
        parent,
        depth: parent === null ? 0 : parent.depth + 1,
        parentReceived: parent !== null || node.parentSpanId === null,
        sums: nothing,
      }
      placed.push(own)
      for (const child of (children.get(node) ?? []).toReversed()) waiting.push({ node: child, parent: own })
    }
  }
  for (const root of children.get(undefined) ?? []) place(root)
  for (const node of nodes) place(node)
  sum(placed)
  return placed
}

const nothing: Sums = { requests: 0, errors: 0, tokens: 0, costPico: 0n }

/** Sums from the leaves up: a later node stands below or beside. */
function sum<Node extends Leaf>(placed: readonly Place<Node>[]): void {
  for (const own of placed.toReversed()) {
    const { node, parent, sums: below } = own
    own.sums = plus(below, { ...node, tokens: node.tokens + (below.tokens === 0 && node.tokens === 0 ? node.toldTokens : 0) })
    if (parent !== null) parent.sums = plus(parent.sums, own.sums)
  }
}

const plus = (one: Sums, other: Sums): Sums => ({
  requests: one.requests + other.requests,
  errors: one.errors + other.errors,
  tokens: one.tokens + other.tokens,
  costPico: one.costPico + other.costPico,
})
