import type { Message } from './protobuf.ts'

/** The messages of `opentelemetry/proto/trace/v1`, as far as they are kept. Their numbers never change. */
const anyValue = (): Message => any
const keyValue = (): Message => pair

const any: Message = {
  1: { name: 'stringValue', type: 'text' },
  2: { name: 'boolValue', type: 'bool' },
  3: { name: 'intValue', type: 'signed' },
  4: { name: 'doubleValue', type: 'double' },
  5: { name: 'arrayValue', type: () => ({ 1: { name: 'values', type: anyValue, repeated: true } }) },
  6: { name: 'kvlistValue', type: () => ({ 1: { name: 'values', type: keyValue, repeated: true } }) },
  7: { name: 'bytesValue', type: 'base64' },
}

const pair: Message = { 1: { name: 'key', type: 'text' }, 2: { name: 'value', type: anyValue } }

const event: Message = {
  1: { name: 'timeUnixNano', type: 'fixed64' },
  2: { name: 'name', type: 'text' },
  3: { name: 'attributes', type: keyValue, repeated: true },
}

const link: Message = {
  1: { name: 'traceId', type: 'hex' },
  2: { name: 'spanId', type: 'hex' },
  4: { name: 'attributes', type: keyValue, repeated: true },
}

const status: Message = { 2: { name: 'message', type: 'text' }, 3: { name: 'code', type: 'varint' } }

const span: Message = {
  1: { name: 'traceId', type: 'hex' },
  2: { name: 'spanId', type: 'hex' },
  4: { name: 'parentSpanId', type: 'hex' },
  5: { name: 'name', type: 'text' },
  6: { name: 'kind', type: 'varint' },
  7: { name: 'startTimeUnixNano', type: 'fixed64' },
  8: { name: 'endTimeUnixNano', type: 'fixed64' },
  9: { name: 'attributes', type: keyValue, repeated: true },
  11: { name: 'events', type: () => event, repeated: true },
  13: { name: 'links', type: () => link, repeated: true },
  15: { name: 'status', type: () => status },
}

const resource: Message = { 1: { name: 'attributes', type: keyValue, repeated: true } }
const scope: Message = { 1: { name: 'name', type: 'text' } }
const scopeSpans: Message = { 1: { name: 'scope', type: () => scope }, 2: { name: 'spans', type: () => span, repeated: true } }
const resourceSpans: Message = {
  1: { name: 'resource', type: () => resource },
  2: { name: 'scopeSpans', type: () => scopeSpans, repeated: true },
}

/** `ExportTraceServiceRequest`. */
export const traceRequest: Message = { 1: { name: 'resourceSpans', type: () => resourceSpans, repeated: true } }
