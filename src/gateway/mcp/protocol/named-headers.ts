import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { eachHeader, type HeaderList, headerValue } from '../../wire/header-list.ts'
import { mcpFault } from './faults.ts'
import type { RpcCall } from './messages.ts'

/** The field of the parameters that `Mcp-Name` repeats. */
const nameFields: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** Returns the name of the thing that a request is about; null: it names none. */
export function namedBy({ method, params }: RpcCall): string | null {
  const field = nameFields[method]
  const name = field === undefined ? undefined : params[field]
  return typeof name === 'string' ? name : null
}

/** Text that stands in a header as it is: visible letters of ASCII, and blanks between them. */
const plain = /^(?:[\u0021-\u007e](?:[\u0020-\u007e\t]*[\u0021-\u007e])?)?$/
const sentinel = /^=\?base64\?([+/0-9A-Za-z]*={0,2})\?=$/

/** Returns a text as the value of a header. */
export const toHeaderText = (text: string): string =>
  plain.test(text) && !text.startsWith('=?base64?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** Returns the text of a header; null: its wrapping is broken. */
export function fromHeaderText(value: string): string | null {
  const trimmed = value.trim()
  if (!trimmed.startsWith('=?base64?')) return trimmed
  const encoded = sentinel.exec(trimmed)?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return null
  return Buffer.from(encoded, 'base64').toString()
}

/** Throws for a modern request whose headers contradict its body. Rules read the body alone. */
export function checkNamedHeaders(headers: HeaderList, call: RpcCall, version: string | null): void {
  const told = headerText(headers, 'mcp-protocol-version')
  if (told === undefined) throw mismatch('The header MCP-Protocol-Version is missing.')
  if (version !== null && told !== version)
    throw mismatch(`MCP-Protocol-Version is ${quoted(told)}, and the body states ${quoted(version)}.`)
  const method = headerText(headers, 'mcp-method')
  if (method === undefined) throw mismatch('The header Mcp-Method is missing.')
  if (method !== call.method) throw mismatch(`Mcp-Method is ${quoted(method)}, and the body states ${quoted(call.method)}.`)
  const name = namedBy(call)
  if (name === null) return
  const header = headerValue(headers, 'mcp-name')
  if (header === undefined) throw mismatch('The header Mcp-Name is missing.')
  const read = fromHeaderText(header)
  if (read === null) throw mismatch('The header Mcp-Name is not well-formed Base64.')
  if (read !== name) throw mismatch(`Mcp-Name is ${quoted(read)}, and the body states ${quoted(name)}.`)
}

const headerText = (headers: HeaderList, name: string): string | undefined => headerValue(headers, name)?.trim()
const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
const mismatch = (message: string) => mcpFault('headerMismatch', message)

/** Returns the headers that a modern server demands of a request. */
export function namedHeaders(call: RpcCall, version: string): readonly string[] {
  const name = namedBy(call)
  return ['mcp-protocol-version', version, 'mcp-method', call.method, ...(name === null ? [] : ['mcp-name', toHeaderText(name)])]
}

const paramHeader = 'mcp-param-'

/** Returns the headers by which a client repeats arguments. */
export function paramHeadersOf(headers: HeaderList): readonly string[] {
  const found: string[] = []
  eachHeader(headers, (name, value) => {
    if (name.toLowerCase().startsWith(paramHeader)) found.push(name, value)
  })
  return found
}

/** An argument that a tool wants repeated in a header. */
export interface ParamHeader {
  readonly header: string
  readonly path: readonly string[]
}

const mostParamHeaders = 64
const deepestParam = 8
const headerName = /^[!#$%&'*+.^`|~\w-]{1,100}$/

/** Returns the arguments that a tool wants repeated, by the `x-mcp-header` of its schema. */
export function paramHeadersOfTool(schema: unknown): readonly ParamHeader[] {
  const found: ParamHeader[] = []
  const visit = (node: unknown, path: readonly string[]): void => {
    const properties = isFields(node) ? node['properties'] : undefined
    if (!isFields(properties) || path.length >= deepestParam) return
    for (const [name, child] of Object.entries(properties)) {
      if (!isFields(child) || found.length >= mostParamHeaders) continue
      const header = child['x-mcp-header']
      if (typeof header === 'string' && headerName.test(header)) found.push({ header, path: [...path, name] })
      visit(child, [...path, name])
    }
  }
  visit(schema, [])
  return found
}

/** Returns the headers that repeat the arguments of a call. */
export function writeParamHeaders(wanted: readonly ParamHeader[], args: unknown): readonly string[] {
  return wanted.flatMap(({ header, path }) => {
    let value: unknown = args
    for (const name of path) value = isFields(value) ? ownField(value, name) : undefined
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [`Mcp-Param-${header}`, toHeaderText(String(value))]
      : []
  })
}

/** Throws for a header of a client that repeats an argument in other words. */
export function checkParamHeaders(given: HeaderList, written: HeaderList): void {
  eachHeader(written, (name, value) => {
    const told = headerValue(given, name.toLowerCase())
    if (told !== undefined && !isSame(fromHeaderText(told), fromHeaderText(value)))
      throw mismatch(`The header ${name} is ${quoted(told)}, and the arguments of the body state something else.`)
  })
}

/** A number may be written in several ways. */
const isSame = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && one.trim() !== '' && other !== null && other !== '' && Number(one) === Number(other))

const ownField = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined)
