import { formats } from '../../../src/gateway/checks/json-schema/formats.ts'
import { callSearch, findTool } from '../../../src/gateway/mcp/client/search.ts'
import { editFields, guardedFields } from '../../../src/gateway/mcp/client/guarded-texts.ts'
import type { CapabilityKind } from '../../../src/gateway/mcp/registry.ts'
import { mcpServer, toolRule } from '../mcp/stored-server.ts'
import { type Door, type Feed, repeated } from './door.ts'

const caller = { workspaceId: 'w', userId: null, scopes: new Set(['mcp.invoke']), organisationId: 'o' }
const ownServer = { workspaceId: 'w' }

/** The names of a list of a server with a thing that is withdrawn, so many letters each. */
function listOf(kind: CapabilityKind, text: (length: number) => string, length: number): (bytes: number) => Feed {
  return (bytes) => {
    const server = mcpServer(ownServer, { capabilities: [{ ...toolRule('http://h/secret', { enabled: false }), kind }] })
    const names = Array.from({ length: Math.ceil(bytes / Buffer.byteLength(text(length))) }, (_, at) =>
      `${at}${text(length)}`.slice(0, length),
    )
    return () => names.filter((name) => server.decide(kind, name, caller) === 'allowed').length
  }
}

/** One name of so many bytes. */
const oneName =
  (kind: CapabilityKind, text: (length: number) => string) =>
  (bytes: number): Feed => {
    const server = mcpServer(ownServer, { capabilities: [{ ...toolRule('http://h/secret', { enabled: false }), kind }] })
    const name = text(bytes).slice(0, bytes)
    return () => server.decide(kind, name, caller)
  }

const halves = (one: string, other: string) => (length: number) => repeated(one, length / 2) + repeated(other, length / 2)

const letters: Readonly<Record<string, (length: number) => string>> = {
  'marks in an order of their own': halves('\u0301', '\u0316'),
  'marks between letters that nobody sees': halves('\u0301\u200b', '\u0316\u200b'),
  'marks on many letters': (length) => repeated(`a${'\u0301'.repeat(9)}`, length),
  'marks in half width': halves('\uff9e', '\u0301'),
  'letters that become many': (length) => repeated('\ufdfa', length),
  blanks: (length) => `a${repeated(' ', length)}b`,
}
const addresses: typeof letters = {
  ...letters,
  'a host of marks': (length) => `http://${halves('\u0301', '\u0316')(length)}`,
  'a host of escaped marks': (length) => `http://${halves('%CC%81', '%CC%96')(length)}`,
  'escapes in escapes': (length) => repeated('%2541', length),
  slashes: (length) => `http://h/${repeated('/', length)}x`,
  'slashes at the end': (length) => `http://h/x${repeated('/', length)}`,
  dots: (length) => `http://h/x${repeated('.', length)}x`,
  'parameters of a path': (length) => `http://h/${repeated(';a', length)}`,
  'parts of a query': (length) => `http://h/?${Array.from({ length: length / 6 }, (_, at) => at).join('&')}`,
  'ends of text': (length) => `http://h/${repeated('%00a', length)}`,
}

const judge = (_kind: string, definition: object) => ({ decision: 'allowed', definition })

/** A search over tools with long descriptions. */
const search =
  (query: (count: number) => string, description: string) =>
  (bytes: number): Feed => {
    const tools = Array.from({ length: bytes / 8192 }, (_, at) => ({ name: `t${at}`, description }))
    const head = { server: { judge }, caller: { key: caller } } as never
    const call = { method: 'tools/call', params: { name: findTool, arguments: { query: query(500) } } }
    return () => callSearch(head, call, () => Promise.resolve(tools))
  }

/** The readers of names, and of definitions, of servers of MCP. */
export const mcpDoors: readonly Door[] = [
  ...(['tool', 'resource'] as const).map((kind): Door => ({
    name: `the name of a thing of an MCP server: ${kind}`,
    shapes: Object.fromEntries(Object.entries(kind === 'tool' ? letters : addresses).map(([name, text]) => [name, oneName(kind, text)])),
    least: 512,
    most: 8192,
  })),
  ...(['tool', 'resource'] as const).map((kind): Door => ({
    name: `a list of an MCP server: ${kind}`,
    shapes: Object.fromEntries(
      Object.entries(kind === 'tool' ? letters : addresses).map(([name, text]) => [name, listOf(kind, text, 2048)]),
    ),
  })),
  {
    name: 'names of arguments that a check makes alike',
    shapes: {
      'numbers of ten digits': (bytes) => {
        const names = Array.from({ length: bytes / 14 }, (_, at) => String(1_000_000_000 + at))
        const fields = guardedFields({ arguments: Object.fromEntries(names.map((name) => [name, 1])) }, 'input')
        const edits = names.map((name) => ({ path: ['arguments', name, -1], value: '#' }))
        return () => editFields(fields, edits, 'input')
      },
    },
  },
  {
    name: 'a search for tools',
    shapes: {
      'short words': search(
        (count) => Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e_00 + at)).join(' '),
        repeated('z ', 8192),
      ),
      'many lengths of words': search(
        (count) => Array.from({ length: Math.sqrt(count) }, (_, at) => 'z'.repeat(at + 1)).join(' '),
        repeated(`${'z'.repeat(40)}y `, 8192),
      ),
    },
    most: 4 * 1024 * 1024,
  },
  {
    name: 'an address in an answer that a schema describes',
    shapes: Object.fromEntries(
      ['a host of marks', 'a host of escaped marks', 'slashes'].map((shape) => [
        shape,
        (bytes: number): Feed => {
          const text = addresses[shape]?.(bytes) ?? ''
          return () => formats['uri']?.(text)
        },
      ]),
    ),
    least: 512,
    most: 8192,
  },
]

/** The most that a whole list may take, in milliseconds: a list has 1,000 items, and an answer 4 MB of these. */
export const longestListMs = 2000
export const largestLists: Readonly<Record<string, Feed>> = Object.fromEntries(
  (['tool', 'resource'] as const).flatMap((kind) =>
    Object.entries(addresses).map(([name, text]) => [`${kind}, ${name}`, listOf(kind, text, 4096)(4 * 1024 * 1024)]),
  ),
)
