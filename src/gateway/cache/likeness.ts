import { isFields } from '../../lib/json/fields.ts'

/** A request in two parts: one that is compared by its meaning, and one that must be equal. */
export interface Likeness {
  readonly text: string
  /** The body without the text, and the figures in it: `room 12` is not `room 13`, however alike they sound. */
  readonly rest: unknown
}

/** Bounds of the requests that are compared by meaning. */
export interface LikenessRule {
  readonly maxTemperature: number
  readonly tools: boolean
  readonly media: boolean
}

/** The longest text that is compared: models of embeddings read about 8,000 tokens. */
const longestText = 8000

/** Fields by which a model may act, and not only answer. */
const toolFields = ['tools', 'functions', 'tool_choice', 'function_call', 'web_search_options', 'mcp_servers']

interface Message extends Readonly<Record<string, unknown>> {
  readonly role: unknown
  readonly content: unknown
}

/**
 * Returns the parts of a request whose answer may be that of a similar one; null when none may. The text is that of the last messages of the
 * user. All that comes before, such as the system prompt and earlier turns, must be equal.
 */
export function likenessOf(json: unknown, rule: LikenessRule): Likeness | null {
  if (!isFields(json) || !isCool(json, rule) || (!rule.tools && mayAct(json))) return null
  const { messages } = json
  if (!Array.isArray(messages) || !messages.every(isMessage) || !messages.every((message) => isPlain(message, rule))) return null
  const before = messages.findLastIndex(({ role }) => role !== 'user') + 1
  const last = messages.slice(before)
  const text = last.flatMap(textsOf).join('\n')
  if (text.trim() === '' || text.length > longestText) return null
  return { text, rest: [{ ...json, messages: [...messages.slice(0, before), ...last.map(withoutText)] }, figuresOf(text)] }
}

const isMessage = (value: unknown): value is Message => isFields(value) && 'role' in value

/** Returns whether a message holds only parts that the rule takes. */
const isPlain = (message: Message, { tools, media }: LikenessRule): boolean =>
  (tools || !ofTool(message)) && partsOf(message).every((part) => isText(part) || (isToolPart(part) ? tools : media))

/** Without a temperature the provider's own counts, which users of a cache accept. */
const isCool = ({ temperature }: Readonly<Record<string, unknown>>, { maxTemperature }: LikenessRule): boolean =>
  temperature === undefined || temperature === null || (typeof temperature === 'number' && temperature <= maxTemperature)

const mayAct = (json: Readonly<Record<string, unknown>>): boolean =>
  toolFields.some((name) => {
    const value = json[name]
    return value !== undefined && value !== null && value !== 'none' && !(Array.isArray(value) && value.length === 0)
  })

const ofTool = ({ role, ...message }: Message): boolean => role === 'tool' || role === 'function' || mayCall(message)

const mayCall = (message: Readonly<Record<string, unknown>>): boolean =>
  ['tool_calls', 'function_call'].some((name) => (message[name] ?? null) !== null)

const partsOf = ({ content }: Message): readonly unknown[] => (Array.isArray(content) ? content : [])

const typeOf = (part: unknown): unknown => (isFields(part) ? part['type'] : null)

const isText = (part: unknown): part is Readonly<Record<string, unknown>> & { readonly text: string } =>
  isFields(part) && part['type'] === 'text' && typeof part['text'] === 'string'

const isToolPart = (part: unknown): boolean => ['tool_use', 'tool_result', 'server_tool_use'].includes(String(typeOf(part)))

const textsOf = (message: Message): readonly string[] =>
  typeof message.content === 'string' ? [message.content] : partsOf(message).flatMap((part) => (isText(part) ? [part.text] : []))

const withoutText = (message: Message): Message => ({
  ...message,
  content:
    typeof message.content === 'string'
      ? null
      : partsOf(message).map((part) => (isText(part) ? Object.assign({}, part, { text: null }) : part)),
})

/** Words that stand for one thing and no other: numbers, dates, addresses. Looked for at the beginning of a word only, so that a long one is read once. */
const figure = /(?<![^\s,;:!?"'()[\]{}])[^\s,;:!?"'()[\]{}]*[\p{N}@][^\s,;!?"'()[\]{}]*|(?<!\w)\w+:\/\/\S+/gu
const lastMarks = /(?<![.:])[.:]+$/

const figuresOf = (text: string): readonly string[] => (text.match(figure) ?? []).map((found) => found.replace(lastMarks, '').toLowerCase())
