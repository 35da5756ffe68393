import { TextInput } from '@mantine/core'
import { useRef, useState, type KeyboardEvent } from 'react'
import { useField } from './faults.tsx'

/** A right as the catalogue names it, and whether the person can pass it on. */
export interface ScopeLeaf {
  readonly scope: string
  readonly locked: boolean
}

export interface ScopeGroup {
  readonly id: string
  readonly title: string
  readonly scopes: readonly ScopeLeaf[]
}

interface ScopePickerProps {
  readonly groups: readonly ScopeGroup[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** A row of the tree: a group, or a right within an open one. */
type Node = { readonly group: ScopeGroup; readonly leaf: ScopeLeaf | null }

const keyOf = ({ group, leaf }: Node): string => leaf?.scope ?? group.id

/** Returns the rows that are in view: all groups, and the rights of those that are open or that a search has found. */
function nodesOf(groups: readonly ScopeGroup[], open: ReadonlySet<string>, search: string): readonly Node[] {
  return groups.flatMap((group) => {
    const isNamed = group.title.toLowerCase().includes(search)
    const found = group.scopes.filter(({ scope }) => isNamed || scope.includes(search))
    if (found.length === 0) return []
    const isOpen = open.has(group.id) || search !== ''
    return [{ group, leaf: null }, ...(isOpen ? found.map((leaf) => ({ group, leaf })) : [])]
  })
}

/** A searchable tree of rights. One tab stop: arrows move, open and close, Space chooses. Rights that the person lacks are locked. */
export function ScopePicker({ groups, chosen, onChange }: ScopePickerProps) {
  const { id, label, error } = useField('scopes')
  const [search, setSearch] = useState('')
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const text = search.trim().toLowerCase()
  const nodes = nodesOf(groups, open, text)
  const setGroup = ({ group }: Node, isOpen: boolean) =>
    setOpen((former) => new Set(isOpen ? [...former, group.id] : [...former].filter((one) => one !== group.id)))
  const toggle = (node: Node) => onChange(toggled(chosen, node))
  const { tree, current, setAt, onKeyDown } = useTreeKeys(nodes, { setGroup, toggle })
  return (
    <div className="stack">
      <TextInput
        label="Search rights"
        autoComplete="off"
        value={search}
        error={error}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <div
        role="tree"
        id={id}
        aria-label={label}
        aria-multiselectable="true"
        className="tree"
        tabIndex={-1}
        ref={tree}
        onKeyDown={onKeyDown}
      >
        {nodes.map((node) => (
          <TreeRow
            key={keyOf(node)}
            node={node}
            chosen={chosen}
            isOpen={open.has(node.group.id) || text !== ''}
            isCurrent={keyOf(node) === current}
            onFocus={() => setAt(keyOf(node))}
            onToggle={() => toggle(node)}
            onOpen={(isOpen) => setGroup(node, isOpen)}
          />
        ))}
      </div>
      <p className="hint" role="status">
        {nodes.length === 0 ? 'No right has this in its name.' : `${chosen.length} chosen`}
      </p>
    </div>
  )
}

interface TreeActions {
  readonly setGroup: (node: Node, isOpen: boolean) => void
  readonly toggle: (node: Node) => void
}

/** The keys of the tree, and the row that the tab key reaches. */
function useTreeKeys(nodes: readonly Node[], { setGroup, toggle }: TreeActions) {
  const [at, setAt] = useState('')
  const tree = useRef<HTMLDivElement>(null)
  const current = nodes.some((node) => keyOf(node) === at) ? at : nodes[0] && keyOf(nodes[0])
  const goTo = (node: Node | undefined) => {
    if (node === undefined) return
    setAt(keyOf(node))
    requestAnimationFrame(() => tree.current?.querySelector<HTMLElement>(`[data-node="${keyOf(node)}"]`)?.focus())
  }
  const actions: Readonly<Record<string, (node: Node, index: number) => void>> = {
    ArrowDown: (_, index) => goTo(nodes[index + 1]),
    ArrowUp: (_, index) => goTo(nodes[index - 1]),
    Home: () => goTo(nodes[0]),
    End: () => goTo(nodes.at(-1)),
    ArrowRight: (node) => node.leaf === null && setGroup(node, true),
    ArrowLeft: (node) => (node.leaf === null ? setGroup(node, false) : goTo({ group: node.group, leaf: null })),
    ' ': (node) => toggle(node),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const index = nodes.findIndex((node) => keyOf(node) === current)
    const node = nodes[index]
    const action = actions[event.key]
    if (node === undefined || action === undefined) return
    action(node, index)
    event.preventDefault()
  }
  return { tree, current, setAt, onKeyDown }
}

/** Returns the rights that are chosen once a row was toggled: a locked right can be taken away and not given. */
function toggled(chosen: readonly string[], { group, leaf }: Node): readonly string[] {
  const has = new Set(chosen)
  const own = leaf === null ? group.scopes : [leaf]
  const free = own.filter(({ scope, locked }) => !locked || has.has(scope))
  const isFull = free.length > 0 && free.every(({ scope }) => has.has(scope))
  for (const { scope } of free)
    if (isFull) has.delete(scope)
    else has.add(scope)
  return [...has]
}

interface TreeRowProps {
  readonly node: Node
  readonly chosen: readonly string[]
  readonly isOpen: boolean
  readonly isCurrent: boolean
  readonly onFocus: () => void
  readonly onToggle: () => void
  readonly onOpen: (isOpen: boolean) => void
}

const boxes = { true: '☑', false: '☐', mixed: '◪' } as const

/** Returns how a row stands: how many of its rights are chosen, and whether it can be. */
function standingOf({ group, leaf }: Node, chosen: readonly string[]) {
  const own = leaf === null ? group.scopes : [leaf]
  const count = own.filter(({ scope }) => chosen.includes(scope)).length
  const isLocked = own.every(({ scope, locked }) => locked && !chosen.includes(scope))
  const words = [leaf === null ? `${count} of ${own.length}` : '', isLocked ? 'locked: you do not have it' : '']
  const state = count === 0 ? 'false' : count === own.length ? 'true' : 'mixed'
  return { state, isLocked, words: words.filter(Boolean).join(', ') } as const
}

function TreeRow({ node, chosen, isOpen, isCurrent, onFocus, onToggle, onOpen }: TreeRowProps) {
  const { group, leaf } = node
  const { state, isLocked, words } = standingOf(node, chosen)
  const shown = leaf === null ? { level: 1, name: group.title, look: 'tree-row' } : { level: 2, name: leaf.scope, look: 'tree-row leaf' }
  return (
    <div
      role="treeitem"
      data-node={keyOf(node)}
      aria-level={shown.level}
      aria-checked={state}
      aria-disabled={isLocked}
      {...(leaf === null && { 'aria-expanded': isOpen })}
      tabIndex={isCurrent ? 0 : -1}
      className={shown.look}
      onFocus={onFocus}
      onClick={onToggle}
    >
      {leaf === null && <Arrow isOpen={isOpen} onOpen={onOpen} />}
      <span aria-hidden="true">{boxes[state]}</span>
      <span>{shown.name}</span>
      <span className="hint">{words}</span>
    </div>
  )
}

/** Opens a group for a pointer; keys do it by the arrows. */
const Arrow = ({ isOpen, onOpen }: Pick<TreeRowProps, 'isOpen' | 'onOpen'>) => (
  <span
    aria-hidden="true"
    className="tree-arrow"
    onClick={(event) => {
      event.stopPropagation()
      onOpen(!isOpen)
    }}
  >
    {isOpen ? '▾' : '▸'}
  </span>
)
