import type { Fields } from '../../../lib/json/fields.ts'
import { saidList, saidText } from '../reading.ts'

/** A value that has come, or an object or a list whose parts come one after the other. */
interface Branch {
  readonly isList: boolean
  readonly children: Map<string, Branch | Leaf>
}
interface Leaf {
  value: string | number | boolean | null
}

/** Paths into longer lists, or with more steps, are no places of arguments. */
const mostItems = 10_000
const mostSteps = 64
/** So many characters of places and texts are held. */
const mostHeld = 4 * 1024 * 1024

const step = /\.([^.[\]]+)|\[(\d{1,5})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

interface Step {
  readonly name: string
  readonly isIndex: boolean
}

/** Returns the steps of a path such as `$.foo.bar[0]`; one that cannot be read is the name of an argument, so that it is seen. */
function stepsOf(path: string): readonly Step[] {
  const steps = readSteps(path)
  return steps.length === 0 || steps.length > mostSteps || steps[0]?.isIndex === true ? [{ name: path, isIndex: false }] : steps
}

/** Returns no steps for a text that is no path. */
function readSteps(path: string): readonly Step[] {
  const steps: Step[] = []
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const found = step.exec(path)
    if (found === null) return []
    const [, name, index, single, double] = found
    if (Number(index ?? 0) >= mostItems) return []
    steps.push({ name: name ?? index ?? unescaped(single ?? double ?? ''), isIndex: index !== undefined })
  }
  return steps
}

const unescaped = (name: string): string => name.replaceAll(/\\(.)/g, '$1')

function valueOf(piece: Fields): Leaf['value'] {
  const { stringValue, numberValue, boolValue } = piece
  if (typeof stringValue === 'string') return stringValue
  if (typeof numberValue === 'number') return numberValue
  return typeof boolValue === 'boolean' ? boolValue : null
}

/** The arguments of a call that come place by place, as Gemini streams them on request. A class, because it keeps the received part. */
export class PartialArguments {
  readonly #root: Branch = { isList: false, children: new Map() }
  /** The path whose text goes on. */
  #open: string | null = null
  #size = 0

  /** True if more is held than may be. */
  get overflows(): boolean {
    return this.#size > mostHeld
  }

  add(call: Fields): void {
    for (const piece of saidList(call, 'partialArgs')) {
      const path = saidText(piece, 'jsonPath') ?? '$'
      this.#size += path.length + (saidText(piece, 'stringValue') ?? '').length
      if (!this.overflows) this.#put(path, piece)
    }
  }

  /** Returns the arguments as JSON. */
  get text(): string {
    return write(this.#root)
  }

  #put(path: string, piece: Fields): void {
    const steps = stepsOf(path)
    const last = steps.at(-1)
    if (last === undefined) return
    const { children } = this.#branch(steps)
    const [value, before] = [valueOf(piece), children.get(last.name)]
    const goesOn = this.#open === path && before !== undefined && 'value' in before && typeof before.value === 'string'
    if (goesOn && typeof value === 'string') before.value = `${String(before.value)}${value}`
    else if (!goesOn || value !== null) children.set(last.name, { value })
    this.#open = piece['willContinue'] === true ? path : null
  }

  #branch(steps: readonly Step[]): Branch {
    let at = this.#root
    for (const [index, { name }] of steps.slice(0, -1).entries()) {
      const found = at.children.get(name)
      const next = found !== undefined && 'children' in found ? found : { isList: steps[index + 1]?.isIndex === true, children: new Map() }
      if (next !== found) at.children.set(name, next)
      at = next
    }
    return at
  }
}

function write(node: Branch | Leaf): string {
  if ('value' in node) return JSON.stringify(node.value)
  const { isList, children } = node
  if (!isList) return `{${[...children].map(([name, child]) => `${JSON.stringify(name)}:${write(child)}`).join(',')}}`
  const length = Math.max(-1, ...[...children.keys()].map(Number)) + 1
  return `[${Array.from({ length }, (_, at) => children.get(String(at)))
    .map((child) => (child === undefined ? 'null' : write(child)))
    .join(',')}]`
}
