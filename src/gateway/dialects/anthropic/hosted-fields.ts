import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { withFormatInPlace, withSystemFirst } from './later-forms.ts'
import { withMarkAtEnd } from './mark-end.ts'

/** The host for which fields are looked at. */
export interface FieldsAtHost {
  readonly host: 'vertex' | 'bedrock'
  /** The betas that the caller names, in its headers and in the body. */
  readonly named: readonly string[]
  /** The betas of the body, which always go on: the fields that they unlock do too. */
  readonly insisted: readonly string[]
  readonly loss: Loss
}

/** The treatment that a host gives to a field which Anthropic itself takes. */
interface AtHost {
  /** The beta that the host wants named for it; absent: none. */
  readonly beta?: string
  /** True if the host does it by the beta alone, and refuses the field. */
  readonly betaOnly?: boolean
  /** True if it stays only where the caller names that beta itself: few models of the host support it. */
  readonly ifNamed?: boolean
}

interface Row {
  readonly name: string
  /** The betas that unlock it at Anthropic, without their dates. */
  readonly unlockedBy: RegExp
  /** The hosts that support it. */
  readonly at: Readonly<Partial<Record<FieldsAtHost['host'], AtHost>>>
  /** True if a request means something else without it. */
  readonly isMeant?: boolean
}

const toolSearch: AtHost = { beta: 'tool-search-tool-2025-10-19' }
const examples: AtHost = { beta: 'tool-examples-2025-10-29', ifNamed: true }
const never = /^(?!)/

/**
 * platform.claude.com/docs: the features of the API, and the platforms that have them. Bedrock streams the input of tools piece by piece for its
 * beta, and refuses the field of the tool even beside the beta.
 */
const ofTools: readonly Row[] = [
  {
    name: 'eager_input_streaming',
    unlockedBy: /^fine-grained-tool-streaming-/,
    at: { bedrock: { beta: 'fine-grained-tool-streaming-2025-05-14', betaOnly: true } },
  },
  { name: 'defer_loading', unlockedBy: /^(?:advanced-tool-use|tool-search-tool)-/, at: { bedrock: toolSearch, vertex: toolSearch } },
  { name: 'input_examples', unlockedBy: /^(?:advanced-tool-use|tool-examples)-/, at: { bedrock: examples, vertex: examples } },
  { name: 'allowed_callers', unlockedBy: /^(?:advanced-tool-use|code-execution)-/, at: {} },
]

const contextEditing: AtHost = { beta: 'context-management-2025-06-27' }

const ofBody: readonly Row[] = [
  { name: 'context_management', unlockedBy: /^(?:context-management|compact)-/, at: { bedrock: contextEditing, vertex: contextEditing } },
  { name: 'diagnostics', unlockedBy: /^cache-diagnosis-/, at: {} },
  { name: 'fallbacks', unlockedBy: /^(?:server-side-)?fallback/, at: {} },
  { name: 'speed', unlockedBy: /^fast-mode-/, at: {} },
  { name: 'container', unlockedBy: /^(?:code-execution|skills)-/, at: {}, isMeant: true },
  { name: 'inference_geo', unlockedBy: never, at: {}, isMeant: true },
  { name: 'mcp_servers', unlockedBy: /^mcp-client-/, at: {}, isMeant: true },
]

const ofOutput: readonly Row[] = [{ name: 'task_budget', unlockedBy: /^task-budgets-/, at: {} }]
const ofMarks: readonly Row[] = [{ name: 'scope', unlockedBy: /^prompt-caching-scope-/, at: {} }]

/** Values that equal the default. */
const asksNothing = (name: string, value: unknown): boolean =>
  value === null ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (name === 'allowed_callers' && Array.isArray(value) && value.every((one) => one === 'direct')) ||
  (name === 'speed' && value === 'standard')

/** A request without the fields that its host does not support, and the betas that the host wants for the others. */
export interface PlainAtHost {
  readonly body: Fields
  readonly wants: readonly string[]
}

/** Returns a request of Anthropic's without the fields that another host of Claude refuses. */
export function withoutForeignFields(body: Fields, at: FieldsAtHost): PlainAtHost {
  const walk = new Walk(at)
  const inPlace = withSystemFirst(withFormatInPlace(body), at)
  const plain = walk.object(markedAtEnd(inPlace, at.loss), ofBody, '')
  const { system, messages, tools, output_config: output } = plain
  return {
    body: {
      ...plain,
      ...(Array.isArray(system) && { system: walk.blocks(system, 'system') }),
      ...(Array.isArray(messages) && { messages: walk.messages(messages) }),
      ...(Array.isArray(tools) && { tools: walk.tools(tools) }),
      ...(isFields(output) && { output_config: walk.object(output, ofOutput, 'output_config.') }),
    },
    wants: [...walk.wants],
  }
}

/** Clouds support marks of blocks alone. */
function markedAtEnd(body: Fields, loss: Loss): Fields {
  if (!Object.hasOwn(body, 'cache_control')) return body
  const { cache_control: mark, ...rest } = body
  if (mark === null) return rest
  const messages = withMarkAtEnd(rest, mark)
  if (messages === null) loss.dropAt('cache_control', 'cannot be said at the end of this request')
  return messages === null ? rest : { ...rest, messages }
}

/** One walk through a request. A class, because it collects as it goes. */
class Walk {
  readonly #at: FieldsAtHost
  readonly wants = new Set<string>()

  constructor(at: FieldsAtHost) {
    this.#at = at
  }

  object(fields: Fields, rows: readonly Row[], place: string): Fields {
    const gone = rows.filter((row) => Object.hasOwn(fields, row.name) && !this.#stays(row, fields[row.name], place))
    if (gone.length === 0) return fields
    return Object.fromEntries(Object.entries(fields).filter(([name]) => !gone.some((row) => row.name === name)))
  }

  tools(tools: readonly unknown[]): readonly unknown[] {
    return tools.map((tool, index) => {
      if (!isFields(tool)) return tool
      if (typeof tool['type'] === 'string' && tool['type'].startsWith('tool_search_tool_')) this.wants.add(toolSearch.beta ?? '')
      return this.#marked(this.object(tool, ofTools, `tools[${index}].`), `tools[${index}]`)
    })
  }

  messages(messages: readonly unknown[]): readonly unknown[] {
    return messages.map((message, index) => {
      if (!isFields(message) || !Array.isArray(message['content'])) return message
      return withField(message, 'content', this.blocks(message['content'], `messages[${index}].content`))
    })
  }

  blocks(blocks: readonly unknown[], place: string): readonly unknown[] {
    const plain = blocks.map((block, index) => {
      if (!isFields(block)) return block
      const at = `${place}[${index}]`
      if (block['type'] === 'tool_reference') this.wants.add(toolSearch.beta ?? '')
      const { content } = block
      const held = Array.isArray(content) ? withField(block, 'content', this.blocks(content, `${at}.content`)) : block
      return this.#marked(held, at)
    })
    return plain.every((block, index) => block === blocks[index]) ? blocks : plain
  }

  #marked(block: Fields, place: string): Fields {
    const mark = block['cache_control']
    return isFields(mark) ? withField(block, 'cache_control', this.object(mark, ofMarks, `${place}.cache_control.`)) : block
  }

  #stays(row: Row, value: unknown, place: string): boolean {
    const { host, named, insisted, loss } = this.#at
    if (insisted.some((name) => row.unlockedBy.test(name))) return true
    const known = row.at[host]
    const { beta } = known ?? {}
    const isNamed = known?.ifNamed !== true || named.includes(beta ?? '')
    if (known !== undefined && isNamed) {
      if (beta !== undefined && !asksNothing(row.name, value)) this.wants.add(beta)
      return known.betaOnly !== true
    }
    if (asksNothing(row.name, value)) return false
    if (row.isMeant === true) loss.refuseAt(place + row.name, 'is known to Anthropic itself alone')
    loss.dropAt(place + row.name, 'is not known there')
    return false
  }
}

const withField = (fields: Fields, name: string, value: unknown): Fields => (fields[name] === value ? fields : { ...fields, [name]: value })
