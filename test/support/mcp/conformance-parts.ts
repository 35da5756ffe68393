/** Contents that the conformance suite asks for. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
export const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

export const image = { type: 'image' as const, data: png, mimeType: 'image/png' }
export const text = (words: string) => ({ type: 'text' as const, text: words })
export const embedded = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
})

/** The tools that answer the same each time. */
export const plainTools = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio' as const, data: wav, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: { isError: true, content: [text('This tool intentionally returns an error for testing')] },
}

export const user = { role: 'user' as const }
export const simplePrompt = { messages: [{ ...user, content: text('This is a simple prompt for testing.') }] }
export const imagePrompt = {
  messages: [
    { ...user, content: image },
    { ...user, content: text('Please analyze the image above.') },
  ],
}
export const argumentsPrompt = (arg1: string, arg2: string) => ({
  messages: [{ ...user, content: text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`) }],
})
export const resourcePrompt = (uri: string) => ({
  messages: [
    { ...user, content: embedded(uri, 'text/plain', 'Embedded resource content for testing.') },
    { ...user, content: text('Please process the embedded resource above.') },
  ],
})

export const staticText = { uri: 'test://static-text', mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
export const staticBinary = { uri: 'test://static-binary', mimeType: 'image/png', blob: png }
export const templateData = (uri: string, id: string) => ({
  uri,
  mimeType: 'application/json',
  text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
})

export const defaults = {
  type: 'object' as const,
  properties: {
    name: { type: 'string' as const, default: 'John Doe' },
    age: { type: 'integer' as const, default: 30 },
    score: { type: 'number' as const, default: 95.5 },
    status: { type: 'string' as const, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean' as const, default: true },
  },
}

const titles = (of: readonly string[]) => of.map((title, at) => ({ const: `value${at + 1}`, title }))
export const enums = {
  type: 'object' as const,
  properties: {
    untitledSingle: { type: 'string' as const, enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string' as const, oneOf: titles(['First Option', 'Second Option', 'Third Option']) },
    legacyEnum: { type: 'string' as const, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array' as const, items: { type: 'string' as const, enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array' as const, items: { anyOf: titles(['First Choice', 'Second Choice', 'Third Choice']) } },
  },
}

export const named = (message: string, field: string, type: 'string' | 'boolean' = 'string') => ({
  message,
  requestedSchema: { type: 'object' as const, properties: { [field]: { type } }, required: [field] },
})
export const sampled = (words: string, maxTokens = 100) => ({ messages: [{ ...user, content: text(words) }], maxTokens })
