import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const number = z.number()
const fields = z.record(text, z.unknown())

/** Google's own subset of OpenAPI; Vertex AI refuses words of JSON Schema in it. */
const schema: z.ZodType = z.lazy(() =>
  z
    .strictObject({
      type: z.enum(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL', 'TYPE_UNSPECIFIED']).optional(),
      format: text.optional(),
      title: text.optional(),
      description: text.optional(),
      nullable: z.boolean().optional(),
      enum: z.array(text).optional(),
      items: schema.optional(),
      properties: z.record(text, schema).optional(),
      required: z.array(text).optional(),
      propertyOrdering: z.array(text).optional(),
      anyOf: z.array(schema).optional(),
      minItems: z.union([text, number]).optional(),
      maxItems: z.union([text, number]).optional(),
      minimum: number.optional(),
      maximum: number.optional(),
      minLength: z.union([text, number]).optional(),
      maxLength: z.union([text, number]).optional(),
      pattern: text.optional(),
      default: z.unknown().optional(),
      example: z.unknown().optional(),
    })
    .refine(
      ({ anyOf, ...beside }) => anyOf === undefined || Object.keys(beside).length === 0,
      'When using any_of, it must be the only field set.',
    )
    .refine(({ anyOf, type }) => anyOf !== undefined || type !== undefined, "schema didn't specify the schema type field")
    .refine(({ type, items }) => type !== 'ARRAY' || items !== undefined, 'items: missing field.')
    .refine(
      ({ type, enum: values }) => values === undefined || (type === 'STRING' && !values.includes('')),
      'enum: only allowed for STRING type',
    )
    .refine(
      ({ properties, required = [] }) => required.every((name) => properties !== undefined && Object.hasOwn(properties, name)),
      'required: property is not defined',
    ),
)
const blob = z.strictObject({ mimeType: text, data: z.base64(), displayName: text.optional() })
const fileData = z.strictObject({ mimeType: text.optional(), fileUri: text, displayName: text.optional() })
const part = z
  .strictObject({
    text: text.optional(),
    thought: z.boolean().optional(),
    thoughtSignature: z
      .base64()
      .refine((said) => !said.startsWith('Z2gxO'), 'Thought signature is not valid.')
      .optional(),
    inlineData: blob.optional(),
    fileData: fileData.optional(),
    functionCall: z.strictObject({ id: text.optional(), name: text, args: fields.optional() }).optional(),
    functionResponse: z
      .strictObject({
        id: text.optional(),
        name: text,
        response: fields,
        parts: z.array(z.strictObject({ inlineData: blob.optional(), fileData: fileData.optional() })).optional(),
      })
      .optional(),
    videoMetadata: fields.optional(),
    mediaResolution: fields.optional(),
  })
  .refine(
    ({ text: said, inlineData, fileData: file, functionCall, functionResponse }) =>
      [said, inlineData, file, functionCall, functionResponse].filter((one) => one !== undefined).length === 1,
    { message: 'required oneof field "data" must have one initialized field' },
  )
const content = z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) })
const declaration = z.strictObject({
  name: text.regex(/^[A-Za-z_][\w.:-]{0,127}$/),
  description: text.optional(),
  parameters: schema.optional(),
  parametersJsonSchema: fields.optional(),
  response: schema.optional(),
})
const request = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: content.optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(declaration).optional(),
        googleSearch: fields.optional(),
        codeExecution: fields.optional(),
        urlContext: fields.optional(),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']),
        allowedFunctionNames: z.array(text).optional(),
      }),
    })
    .optional(),
  safetySettings: z.array(fields).optional(),
  cachedContent: text.optional(),
  labels: z.record(text, text).optional(),
  serviceTier: text.optional(),
  generationConfig: z
    .strictObject({
      temperature: number.optional(),
      topP: number.optional(),
      topK: number.optional(),
      candidateCount: number.optional(),
      maxOutputTokens: number.int().positive().optional(),
      stopSequences: z.array(text).max(5).optional(),
      responseMimeType: z.enum(['text/plain', 'application/json', 'text/x.enum']).optional(),
      responseSchema: schema.optional(),
      responseJsonSchema: z.unknown().optional(),
      responseModalities: z.array(text).optional(),
      presencePenalty: number.optional(),
      frequencyPenalty: number.optional(),
      seed: number.optional(),
      responseLogprobs: z.boolean().optional(),
      logprobs: number.optional(),
      thinkingConfig: z
        .strictObject({ thinkingBudget: number.optional(), thinkingLevel: text.optional(), includeThoughts: z.boolean().optional() })
        .refine(({ thinkingBudget: budget, thinkingLevel: level }) => budget === undefined || level === undefined, {
          message: 'thinking_budget and thinking_level are not supported together',
        })
        .optional(),
      mediaResolution: text.optional(),
    })
    .optional(),
})

/** As many results as calls, in the next turn, and no other parts in a turn that follows calls. */
function faultOfTurns({ contents }: z.infer<typeof request>): string | null {
  for (const [index, { parts }] of contents.entries()) {
    const calls = parts.filter(({ functionCall }) => functionCall !== undefined).length
    const results = contents[index + 1]?.parts.filter(({ functionResponse }) => functionResponse !== undefined).length ?? 0
    if (calls !== results)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
  }
  return null
}

/** Why Google refuses a request, in its own words; null: it takes it. */
export function refusalOfGoogle({ url, json: body }: Received): string | null {
  if (!/\/models\/[^/:]+:(?:generateContent|streamGenerateContent)(?:\?|$)/.test(url)) return `no ${url}`
  const read = request.safeParse(body)
  return read.success ? faultOfTurns(read.data) : firstFault(read.error)
}
